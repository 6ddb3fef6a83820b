// SPDX-License-Identifier: Apache-2.0
// Keys are made, compared and removed by two servers (docs/protocols/27-two-server-jobs.md):
//
//   STAGE    drawn: the next blocks of the pool. Imported: what the agent dealt, stored under new
//            blocks
//   EXPORT   the staged key under the agent's pad
//   BIND     all fields of the class's usages, each derived by a circuit and stored under new
//            blocks; then prepared by both stores or by none, and committed
//   EQUAL    one octet, which both learn
//   DESTROY  by both stores or by none
//
// Used by the lane's thread. Both servers call alike.
#pragma once

#include "service/pair/pair_operations.h"

namespace tkdc {

class PairManagement {
 public:
  PairManagement(const LaneShared& shared, const PairAtWork& at_work)
      : shared_(shared), at_work_(at_work) {}

  // `held`: both hold the bits of the record with which EQUAL compares.
  JobOutcome run(PairJob& of, bool held);

 private:
  JobOutcome stage(PairJob& of);
  Result<pair::StoredBlocks> import_key(PairJob& of, std::size_t bytes);
  JobOutcome export_once(PairJob& of);
  JobOutcome compare(PairJob& of, bool held);
  JobOutcome bind(PairJob& of);
  JobOutcome destroy(PairJob& of);

  Result<pair::Held> staged_bits(const KeyId& id, const StagedKey& key) const;
  Result<void> derive(KeyRecord& record, const StagedKey& staged);
  Result<void> derive_fields(KeyRecord& record, const std::string& circuit,
                             const pair::Held& source, const std::vector<std::string>& fields);
  struct Phases;
  JobOutcome in_two_phases(const Phases& phases, const char* verb);

  const LaneShared shared_;
  const PairAtWork& at_work_;
};

}  // namespace tkdc
