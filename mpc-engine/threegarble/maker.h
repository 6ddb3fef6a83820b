// SPDX-License-Identifier: Apache-2.0
// Makes one instance at a time, on a thread of its own beside the lane: garbles, sends and receives
// tables over bulk streams. The lane begins, and asks now and then whether it is through.
//
// All three servers begin the same instances in the same order, so streams carry nothing that says
// which: a writer and a reader to each neighbour, for this lane alone. A stream that fails, or that
// stands still for `timeout_ms`, ends the maker for good: new connections have other streams.
//
// begin(), poll() and the destructor belong to the lane's thread, wait() and give_up() too. Secret:
// what is made.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/machine.h"
#include "session/session.h"
#include "threegarble/tables.h"

namespace tkdc::threegarble {

class Maker {
 public:
  // `pace`: of what it sends, if there is one; it outlives the maker.
  Maker(Seat seat, LaneStreams streams, int timeout_ms, Pace* pace = nullptr);
  ~Maker();
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;

  // Nothing is being made, or it has been given up; then nothing is. `shape` outlives it.
  void begin(const Shape& shape, const InstanceId& id);

  enum class State : std::uint8_t {
    kMaking = 0,
    kMade = 1,
    kBroken = 2,  // a stream failed; `why`
    kWrong = 3,   // a garbler deviates
  };
  State poll();
  // Until it is through with what it makes, at most so long.
  void wait(std::chrono::microseconds most);
  // Its streams are of no use any more: what it makes breaks, and from now on it is kBroken.
  void give_up(const std::string& reason);
  // Once kMade.
  Instance take();
  std::string why();

 private:
  void work();
  State make(const Shape& shape, const InstanceId& id, std::optional<Instance>& out);

  const Seat seat_;
  const LaneStreams streams_;
  const int timeout_ms_;
  Pace* const pace_;

  std::mutex mutex_;
  std::condition_variable changed_, through_;
  bool stops_ = false, given_up_ = false;
  std::optional<std::pair<const Shape*, InstanceId>> order_;
  State state_ = State::kMade;
  std::optional<Instance> made_;
  std::string why_;
  std::unique_ptr<Machine::Thread> thread_;  // last: everything else exists when it starts
};

}  // namespace tkdc::threegarble
