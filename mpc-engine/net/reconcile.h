// SPDX-License-Identifier: Apache-2.0
// What the three parties settle on lane 0 before a session is used:
//
//   1. CONFIRM    all three hold the same session id and saw the same HELLOs
//   2. settle     prepared records: committed when another party has committed
//                 them, dropped otherwise; condemned records: destroyed when
//                 another party has buried them, pardoned otherwise (a crash
//                 between the two steps of making or removing a key)
//   3. INVENTORY  the stores hold the same keys, or there is no service
//   4. EPOCH      1 + the highest persisted epoch, on disk at all three before use
//
// Each step is one packet to and one from each neighbour (settling: one round
// for each page of 1,024 ids). A party that must refuse tells both why.
// Nothing here is secret. Called by the mesh's thread.
#pragma once

#include <functional>

#include "net/link.h"
#include "store/store.h"

namespace tkdc {

inline constexpr std::uint32_t kMaxEpoch = (1u << 20) - 1;
// A peer's epoch further ahead is not believed: one wrong server could use up
// all of them at once.
inline constexpr std::uint32_t kMaxEpochLead = 1u << 16;

struct ReconcileInputs {
  int party = 0;
  std::array<std::uint8_t, 32> session{};
  std::array<std::uint8_t, 32> transcript{};  // digest of the three HELLOs, in party order
  std::array<std::uint32_t, 3> epochs{};      // persisted, by party, from the HELLOs
};

// Returns the session's epoch.
Result<std::uint32_t> reconcile(Link& link, Store& store, const ReconcileInputs& inputs,
                                long long deadline_ms);

}  // namespace tkdc
