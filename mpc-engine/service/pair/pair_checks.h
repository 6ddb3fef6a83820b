// SPDX-License-Identifier: Apache-2.0
// Whether this server would run a job with the other one, before it hears what that one says; and
// the digest of all that both must have been told alike. Used by the lane's thread.
#pragma once

#include "service/garbled/whole.h"
#include "service/job/job.h"
#include "service/job/lane_shared.h"
#include "service/pair/pair_session.h"
#include "service/pair/pair_talk.h"

namespace tkdc {

// A job in this session.
struct PairJob {
  std::unique_ptr<Job> job;
  Whole whole;        // of an operation with a stored key
  std::string kind;   // of its circuit, by which ready ones are counted; empty: none
  pair::Dealt dealt;  // where the agent has dealt something
  bool has_dealt = false;
  std::size_t input_bytes = 0, pad_bytes = 0;
};

class PairChecks {
 public:
  PairChecks(const LaneShared& shared, const PairAtWork& at_work)
      : shared_(shared), at_work_(at_work) {}

  // Fills in what is found; the statement is what the other one hears.
  PairStatement check(PairJob& of);

 private:
  Verdict look_at(PairJob& of);
  Verdict look_at_deal(PairJob& of);
  Verdict look_at_use(PairJob& of);
  Verdict look_at_management(PairJob& of);
  Verdict has_pool(const KeyRecord& record) const;
  Verdict count(PairJob& of, Verdict others);
  Verdict failed(const Error& why) const;
  Digest digest_of(const PairJob& of) const;

  const LaneShared shared_;
  const PairAtWork& at_work_;
};

}  // namespace tkdc
