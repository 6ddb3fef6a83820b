// SPDX-License-Identifier: Apache-2.0
// At the leader: whether a job's AES goes by lookup tables. It does where
//
//   there are enough of them, of this session, at both (they say how many there are)
//   both servers wait for each other no longer by it than `pair_tables_wait`
//   the circuit beside them is ready, or the whole operation's is not either: that one is faster
//   (where `pair_tables_wait` is 0, these two do not count)
//   its key and its agent have not had their quota (pair_quotas.h)
//
// It changes which of both computes a job and nothing else, so it is the leader's alone; the other
// server can say no. Decided before a word of the job. Used by the lane's thread. Public.
#pragma once

#include <deque>

#include "service/pair/pair_quotas.h"

namespace tkdc {

class PairTableChoice {
 public:
  using Time = std::chrono::nanoseconds;
  // `most_wait`: 0: always where there are enough.
  explicit PairTableChoice(std::chrono::milliseconds most_wait) : most_wait_(most_wait) {}

  // A message there and one back, of a server that had nothing else to do. The shortest of the last
  // ones counts: what is longer was a pause.
  void took(Time round_trip);
  // Whether the link is short enough for such a job. Unknown: it is not.
  bool is_near(const PairTableJob& job, bool has_keys) const;
  // `most`: so many tables of one way there may be.
  bool takes(const PairJob& of, const PairStatement& own, std::size_t most);
  // Whether the job went so.
  void settle(const JobName& name, bool by_tables) { quotas_.settle(name, by_tables); }
  // Who had had its quota when takes() said no; kGranted: nobody.
  InstanceQuotas::Answer answer() const { return answer_; }

 private:
  static constexpr std::size_t kRemembered = 8;

  const std::chrono::milliseconds most_wait_;
  std::deque<Time> round_trips_;
  PairQuotas quotas_;
  InstanceQuotas::Answer answer_ = InstanceQuotas::Answer::kGranted;
};

}  // namespace tkdc
