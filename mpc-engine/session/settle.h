// SPDX-License-Identifier: Apache-2.0
// The first step of agreeing on entries, between any number of parties (session/agreement.h,
// session/pair_talk.h): each names those that are between two steps of being made or removed, and
// does with them what another party has done. Two rounds for each page of 1,024 ids.
//
// Called by the thread that makes sessions. Nothing here is secret.
#pragma once

#include <string>
#include <vector>

#include "base/codec.h"
#include "session/advice.h"
#include "session/entries.h"

namespace tkdc {

// Of the agreement. The number is the first octet of its packets.
enum class Step : std::uint8_t { kConfirm = 1, kPrepared, kCommitted, kInventory, kEpoch, kReady };

// Packets of steps to and from the other parties.
class StepExchange {
 public:
  virtual ~StepExchange() = default;
  // "party 1", for messages; the order of what follows.
  virtual std::vector<std::string> names() const = 0;
  // One to and one from each of them. Error: lost, late, at another step, or refused, and why.
  virtual Result<std::vector<Bytes>> exchange(Step step, const std::vector<Bytes>& bodies) = 0;
};

// Committed where any has committed an entry, dropped otherwise; destroyed where any has buried it,
// pardoned otherwise. Error also: too many, or what another says is malformed.
Result<void> settle_entries(StepExchange& others, Entries& entries, const SessionAdvice& advice);

}  // namespace tkdc
