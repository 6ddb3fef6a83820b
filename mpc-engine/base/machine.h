// SPDX-License-Identifier: Apache-2.0
// What a daemon asks of the machine that it runs on, besides disk and network: clocks, threads
// and waiting. There is one in each process. It is the real one, unless a program says another
// before anything runs: tests/sim has one whose threads take turns in one thread, and whose time
// passes when all of them wait (docs/adr/0029-a-realm-in-a-bottle.md).
//
// Mutexes are not in it. Nobody who holds one waits here, but in wait(), which lets go of it.
// Any thread. Nothing here is secret.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace tkdc {

class Machine {
 public:
  virtual ~Machine() = default;

  // Never goes back.
  virtual std::chrono::steady_clock::time_point now() = 0;
  // The time of day, which an administrator may set.
  virtual std::chrono::system_clock::time_point wall() = 0;

  virtual void pause(std::chrono::microseconds time) = 0;

  // Its destruction waits for the end of its body.
  class Thread {
   public:
    virtual ~Thread() = default;
  };
  virtual std::unique_ptr<Thread> start(std::function<void()> body) = 0;

  // Until `there`, which is asked with `lock` held and anew when `changed` is notified; at most so
  // long. Whether it is.
  virtual bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                    std::chrono::microseconds most, const std::function<bool()>& there) = 0;
};

Machine& machine();
// Before anything else of the program runs.
void use_machine(Machine& other);

// Its clocks, as the standard library has them.
struct SteadyClock : std::chrono::steady_clock {
  static time_point now() { return machine().now(); }
};
struct WallClock : std::chrono::system_clock {
  static time_point now() { return machine().wall(); }
};

// Milliseconds of SteadyClock, for deadlines.
inline long long monotonic_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(SteadyClock::now().time_since_epoch()).count();
}

// Unix time.
inline std::int64_t wall_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(WallClock::now().time_since_epoch()).count();
}
inline std::uint64_t wall_s() {
  const std::int64_t ms = wall_ms();
  return ms < 0 ? 0 : static_cast<std::uint64_t>(ms) / 1000;
}

}  // namespace tkdc
