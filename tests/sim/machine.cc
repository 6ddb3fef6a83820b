// SPDX-License-Identifier: Apache-2.0
// The machine that the product meets in a run: threads are fibers, clocks are the host's, waits are
// the scheduler's, and every random octet comes from the seed.
#include "base/machine.h"

#include "base/log.h"
#include "sim/coverage.h"
#include "sim/disk.h"
#include "sim/garbling.h"
#include "sim/invariants.h"
#include "sim/repairs.h"
#include "sim/world.h"

namespace tkdc::sim {
namespace {

// 2025-06-01 and a day of uptime.
constexpr std::chrono::microseconds kWallAtStart{1'748'736'000ll * kSecond};
constexpr std::chrono::microseconds kUptime{86'400ll * kSecond};

// By the clock of the host that asks.
std::chrono::microseconds passed() {
  Host& host = world().here();
  const Us now = world().now();
  const Us drifting = (now - host.drift_since) * host.drift_ppm / 1'000'000;
  return std::chrono::microseconds(now + host.drifted + drifting);
}

class FiberThread final : public Machine::Thread {
 public:
  explicit FiberThread(std::function<void()> body)
      : fiber_(world().fibers.start(world().here(), std::move(body))) {}
  ~FiberThread() override { world().fibers.join(fiber_); }

 private:
  Fibers::Fiber* fiber_;
};

class SimMachine final : public Machine {
 public:
  std::chrono::steady_clock::time_point now() override {
    return std::chrono::steady_clock::time_point(kUptime + passed() +
                                                 std::chrono::microseconds(world().here().skipped));
  }
  std::chrono::system_clock::time_point wall() override {
    const std::chrono::microseconds ahead(world().here().wall_ahead);
    return std::chrono::system_clock::time_point(kWallAtStart + passed() + ahead);
  }
  void pause(std::chrono::microseconds time) override { world().sleep(time.count()); }
  std::unique_ptr<Thread> start(std::function<void()> body) override {
    return std::make_unique<FiberThread>(std::move(body));
  }
  bool wait(std::condition_variable&, std::unique_lock<std::mutex>& lock,
            std::chrono::microseconds most, const std::function<bool()>& there) override {
    lock.unlock();
    const bool is = world().wait(most.count(), there);
    lock.lock();
    return is;
  }
};

void log(LogLevel, std::string_view text) {
  // Not of the course: versions and CPUs stand in them.
  if (world().here().dead) return;
  world().tell(world().here().name, "says: " + std::string(text));
  note_log(world().here().name, text);
  hear(text);
  hear_of_repair(world().here().number, text);
  if (world().here().number >= 0 && world().here().number < kServers)
    note_log_of_garbling(world().here().number, text);
}

const char* random_name() { return "the seed"; }
std::uint32_t random_word() { return static_cast<std::uint32_t>(world().random.next()); }
void random_octets(void* out, std::size_t bytes) { world().random.fill(out, bytes); }

randombytes_implementation randomness = {random_name, random_word,   nullptr,
                                         nullptr,     random_octets, nullptr};

}  // namespace

void take_the_place_of_the_machine() {
  static SimMachine machine;
  static SimDisk disk;
  // Guard pages' canaries are not the seed's.
  if (sodium_init() < 0) std::abort();
  randombytes_set_implementation(&randomness);
  use_machine(machine);
  use_disk(disk);
  use_log(log);
}

}  // namespace tkdc::sim
