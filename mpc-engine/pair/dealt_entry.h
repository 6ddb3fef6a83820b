// SPDX-License-Identifier: Apache-2.0
// What a client dealt becomes bits of the session before any circuit takes it, for what computes
// with labels and not with wires (docs/protocols/29-tables-in-jobs.md):
//
//   both   own share ⊕ own part of masks, R likewise       what a party says is its share
//   both   a coin, once the other one's share is there
//   both   a proof (pair/proof.h): that it has said what it was dealt
//   both   a verdict; where one is 0 both drop the job, and the session goes on
//
// The client's pad is the last of what it dealt. It goes on as bits that serve in one circuit.
//
// share level: own bits of both sum to what was dealt, with MACs under the session's Δ;
// tests/unit/pair/dealt_entry_test.cc.
//
// Calls block; one thread. Secret: shares, masks. Error: the session's; a deal, masks or lengths
// that do not fit, before a word is said.
#pragma once

#include <functional>

#include "pair/inputs.h"
#include "pair/online.h"

namespace tkdc::pair {

// Random bits under which a deal of so many bits enters, and R: drawn ahead, for one deal.
class EntryMasks {
 public:
  static Result<EntryMasks> draw(Session& session, std::size_t dealt_bits);
  // By whoever draws many at once: bits of the session that nobody has had before.
  using Draw = std::function<Result<void>(std::span<AuthBit>)>;
  static Result<EntryMasks> draw(const Session& session, std::size_t dealt_bits, const Draw& draw);
  EntryMasks(const EntryMasks&) = delete;
  EntryMasks& operator=(const EntryMasks&) = delete;
  EntryMasks(EntryMasks&&) = default;
  EntryMasks& operator=(EntryMasks&&) = default;
  std::size_t dealt_bits() const { return bits_.empty() ? 0 : bits_.size() - kBlockBits; }

 private:
  friend class DealtEntry;
  EntryMasks(const Label& session, AuthBits bits) : session_(session), bits_(std::move(bits)) {}
  Label session_;
  AuthBits bits_;
};

struct EnteredDeal {
  Held input;
  HeldOnce pad;
};
class [[nodiscard]] EnterResult : public Result<EnteredDeal> {
 public:
  EnterResult(EnteredDeal entered) : Result<EnteredDeal>(std::move(entered)), went_(Went::kDone) {}
  EnterResult(Error error, Went went) : Result<EnteredDeal>(std::move(error)), went_(went) {}
  Went went() const { return went_; }

 private:
  Went went_;
};

// `pad_bits`: of the deal's last bits. Unless it was refused the deal has served.
EnterResult enter_dealt(Session& session, EntryMasks masks, Dealt dealt, std::size_t pad_bits);

}  // namespace tkdc::pair
