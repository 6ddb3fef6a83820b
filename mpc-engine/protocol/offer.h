// SPDX-License-Identifier: Apache-2.0
// A protocol as a program has it, before there is a session. Servers tell each other in the
// handshake which ones they have; a session has those that all of its parties have.
// docs/ARCHITECTURE.md, "How to add a protocol".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "lane/lane.h"
#include "protocol/protocol.h"
#include "session/session.h"

namespace tkdc {

// What a protocol is told of the lane that it joins.
struct LaneSeat {
  const Session& session;
  std::size_t lane;          // which of the session's
  const PairwiseKeys& keys;  // this protocol's own: no other one draws from them
};

class ProtocolOffer {
 public:
  virtual ~ProtocolOffer() = default;
  virtual std::string_view name() const = 0;
  // Two programs work together by this protocol where they say the same: which messages it sends
  // (session/wire_format.h).
  virtual std::uint64_t wire_format() const = 0;
  // This party's side in a lane, which outlives it. At most kMostParts protocols of a lane add
  // octets of their own to ticks (lane/lane.h).
  virtual Result<std::unique_ptr<Protocol>> join(Lane& lane, const LaneSeat& seat) const = 0;
  // It keeps nothing secret: for programs of tests.
  virtual bool of_tests() const { return false; }
};

// The keys of a lane for one protocol: BLAKE2b-256 of its name under each.
PairwiseKeys keys_for(std::string_view protocol, const PairwiseKeys& lane);

using ProtocolOffers = std::vector<std::shared_ptr<const ProtocolOffer>>;

}  // namespace tkdc
