// SPDX-License-Identifier: Apache-2.0
#include "base/machine.h"

#include <thread>

namespace tkdc {
namespace {

class RealThread final : public Machine::Thread {
 public:
  explicit RealThread(std::function<void()> body) : thread_(std::move(body)) {}
  ~RealThread() override { thread_.join(); }

 private:
  std::thread thread_;
};

class HostMachine final : public Machine {
 public:
  std::chrono::steady_clock::time_point now() override { return std::chrono::steady_clock::now(); }
  std::chrono::system_clock::time_point wall() override { return std::chrono::system_clock::now(); }
  void pause(std::chrono::microseconds time) override { std::this_thread::sleep_for(time); }
  std::unique_ptr<Thread> start(std::function<void()> body) override {
    return std::make_unique<RealThread>(std::move(body));
  }
  bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
            std::chrono::microseconds most, const std::function<bool()>& there) override {
    return changed.wait_for(lock, most, there);
  }
};

HostMachine real;
Machine* current = &real;

}  // namespace

Machine& machine() { return *current; }

void use_machine(Machine& other) { current = &other; }

}  // namespace tkdc
