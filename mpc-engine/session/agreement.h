// SPDX-License-Identifier: Apache-2.0
// What the three parties settle on lane 0 before a session is used:
//
//   1. CONFIRM    all three hold the same session id and saw the same HELLOs
//   2. settle     prepared records: committed when another party has committed
//                 them, dropped otherwise; condemned records: destroyed when
//                 another party has buried them, pardoned otherwise (a crash
//                 between the two steps of making or removing an entry)
//   3. INVENTORY  the parties hold the same entries, or there is no session; all but a newcomer
//   4. EPOCH      1 + the highest epoch used, reserved on disk by all three before use
//
// Each step is one packet to and one from each neighbour (settling: one round
// for each page of 1,024 ids). A party that must refuse tells both why.
// Nothing here is secret. Called by the mesh's thread.
#pragma once

#include <functional>

#include "link/link.h"
#include "session/advice.h"
#include "session/entries.h"
#include "session/epoch_ledger.h"

namespace tkdc {

// How far the highest epoch used may lie above what two servers have reserved. Honest servers
// need no such lead: an epoch is used after all three have reserved it, and for one that was
// restored from a backup the two others vouch. It is for two that lost a little, and all that one
// wrong server can add in one start.
inline constexpr std::uint32_t kMaxEpochLead = 36;

struct EpochsSaid {
  std::uint32_t reserved = 0, used = 0;
};

struct AgreementInputs {
  int party = 0;
  std::array<std::uint8_t, 32> session{};
  std::array<std::uint8_t, 32> transcript{};  // digest of the three HELLOs, in party order
  std::array<EpochsSaid, 3> epochs{};         // persisted, by party, from the HELLOs
  std::function<void(const std::string&)> log;
  SessionAdvice advice;
  // This party has no entries yet, and the session is to give it them: the two others' inventories
  // are equal.
  std::optional<int> newcomer;
};

// Step 1. On it rests whether a session goes on or a new one follows: a party that told the two
// others different things of it ends here, and nothing has been changed.
Result<void> confirm_handshake(Link& link, const AgreementInputs& inputs, long long deadline_ms);

// Steps 2 to 4, of a new session. Returns its epoch.
Result<std::uint32_t> agree_on_session(Link& link, Entries& entries, EpochLedger& ledger,
                                       const AgreementInputs& inputs, long long deadline_ms);

}  // namespace tkdc
