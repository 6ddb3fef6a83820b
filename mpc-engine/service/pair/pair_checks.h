// SPDX-License-Identifier: Apache-2.0
// Whether this server would run a job with the other one, before it hears what that one says; and
// the digest of all that both must have been told alike. Used by the lane's thread.
#pragma once

#include "service/garbled/whole.h"
#include "service/job/job.h"
#include "service/job/lane_shared.h"
#include "service/pair/pair_derived.h"
#include "service/pair/pair_table_job.h"
#include "service/pair/pair_talk.h"

namespace tkdc {

// A job in this session.
struct PairJob {
  std::unique_ptr<Job> job;
  Whole whole;                            // of an operation with a stored or a derived key
  std::vector<std::string> kinds;         // of its circuits, the operation's last; empty: none
  std::optional<PairTableJob> by_tables;  // what it would take; of no derived key
  bool goes_by_tables = false, has_round_keys = false;  // as both have said
  std::uint8_t made = 0;  // of its circuits, for it alone, as the leader has said: a bit for each
  std::optional<PairDerivation> derivation;
  std::optional<pair::Dealt> half;  // where the agent has dealt a known half
  pair::Dealt dealt;                // where it has dealt something else
  bool has_dealt = false;
  std::size_t half_bytes = 0, input_bytes = 0, pad_bytes = 0;
};

class PairChecks {
 public:
  PairChecks(const LaneShared& shared, const PairAtWork& at_work)
      : shared_(shared), at_work_(at_work) {}

  // Fills in what is found; the statement is what the other one hears.
  PairStatement check(PairJob& of);

 private:
  PairHeld held_of(const PairJob& of) const;
  PairByTables tables_for(const PairJob& of) const;
  Verdict look_at(PairJob& of);
  Verdict look_at_deal(PairJob& of);
  Verdict look_at_use(PairJob& of);
  Verdict look_at_kinds(PairJob& of);
  PairProved& budget_for(const Job& job) const;
  Verdict look_at_number(PairJob& of, pair::Dealt& dealt, pair::DealPart part);
  Verdict look_at_management(PairJob& of);
  Verdict has_pool(const KeyRecord& record) const;
  Verdict count(PairJob& of, Verdict others);
  Verdict failed(const Error& why) const;
  Digest digest_of(const PairJob& of) const;

  const LaneShared shared_;
  const PairAtWork& at_work_;
};

}  // namespace tkdc
