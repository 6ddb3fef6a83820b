// SPDX-License-Identifier: Apache-2.0
// Three parties on a network that a seed decides about: which packet arrives
// next, which party runs next, what is lost, doubled or overtaken. One party runs
// at a time and there is no clock, so a seed replays exactly.
//
// A party that waits when nothing is on its way any more meets a timeout, as a
// real lane would. tests/unit/trace uses it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

#include "link/link.h"

namespace tkdc::test {

struct Faults {
  // One packet in so many; 0: never.
  unsigned drop = 0, twice = 0, overtake = 0, flip = 0;
};

class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(std::uint64_t seed, Faults faults = {}) : rng_(seed), faults_(faults) {}

  // Runs body(party, link) as the three parties, to their ends.
  void run(const std::function<void(int, Link&)>& body);

  std::size_t faults_made() const { return faults_made_; }
  std::size_t delivered() const { return delivered_; }

 private:
  class End;
  enum class State : std::uint8_t { kReady, kWaiting, kDone };
  static constexpr int kNobody = -1;

  void put(int from, Neighbour to, SecretVector packet);
  Result<SecretVector> take(int party, Neighbour from);
  bool can_run(int party) const;
  void schedule();  // with the lock held
  void wait_turn(std::unique_lock<std::mutex>& lock, int party);
  bool chance(unsigned one_in) { return one_in != 0 && rng_() % one_in == 0; }

  std::mutex mutex_;
  std::condition_variable turned_;
  std::mt19937_64 rng_;
  const Faults faults_;
  int turn_ = kNobody;
  State state_[3] = {State::kReady, State::kReady, State::kReady};
  Neighbour waits_for_[3] = {};
  bool timed_out_[3] = {};
  std::deque<SecretVector> wire_[3][2];   // to party, from its neighbour: on its way
  std::deque<SecretVector> inbox_[3][2];  // arrived
  std::size_t faults_made_ = 0, delivered_ = 0;
};

}  // namespace tkdc::test
