// SPDX-License-Identifier: Apache-2.0
// Threads that take turns in one: each has a stack of its own and goes on until it waits. Time
// passes when all of them wait, and then at once to whatever is next. Which of those that can run
// does is the seed's choice.
//
// A host that has crashed is dead: what its fibers do has no effect any more, and their waits end
// at once, so that they come to their ends and its objects go as those of a process do.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "sim/random.h"

namespace tkdc::sim {

using Us = std::int64_t;  // microseconds of virtual time
inline constexpr Us kMs = 1'000, kSecond = 1'000'000, kNever = INT64_MAX;

// A computer, as far as its fibers and clocks go.
struct Host {
  std::string name;
  int number = 0;  // of a server: its party; of an agent: as world.h says
  bool dead = false;
  Us hung_until = 0;  // its fibers stand still
  Us slow_until = 0;  // one fiber or another goes on late, by so much at most
  Us slow_by = 0;
  Us skipped = 0;     // by its clock, in waits that ended at once
  Us wall_ahead = 0;  // of true time
  std::int64_t drift_ppm = 0;
  Us drifted = 0, drift_since = 0;  // until then
  int fibers = 0;                   // that have not ended
  // Crashes when so many more disk operations, or packets, have been made; -1: not.
  std::int64_t crash_at_disk = -1, crash_at_sync = -1, crash_at_commit = -1, crash_at_packet = -1;
  // The same of all that anybody sees; then of the next allocation, which is refused (memory.h).
  std::int64_t crash_at_memory = -1;
  bool refused = false;
  void crash_no_more() {
    crash_at_disk = crash_at_sync = crash_at_commit = crash_at_packet = crash_at_memory = -1;
  }
};

class Fibers {
 public:
  explicit Fibers(Random& random);
  ~Fibers();

  struct Fiber;
  Fiber* start(Host& host, std::function<void()> body);
  // Of a fiber: until `there` or that time. Whether it is.
  bool wait(Us until, const std::function<bool()>& there);
  void join(Fiber* fiber);

  // Until `over`. False: nothing can ever happen any more, or no end of steps at one time.
  bool run(const std::function<bool()>& over);

  Us now() const { return now_; }
  Host* here() const;  // null outside of fibers
  // Something can happen then that no fiber waits for by time.
  void wake_at(Us time) { timers_.push(time); }
  std::uint64_t steps() const { return steps_; }

 private:
  Fiber* pick();
  bool pass_time();
  void resume(Fiber& fiber);
  void collect();
  static void enter();

  Random& random_;
  Us now_ = 0;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::priority_queue<Us, std::vector<Us>, std::greater<>> timers_;
  Fiber* current_ = nullptr;
  std::uint64_t steps_ = 0, steps_at_once_ = 0;
  bool ended_ = false;  // one of them, since they were last collected
};

}  // namespace tkdc::sim
