// SPDX-License-Identifier: Apache-2.0
// A session: all lanes' links between the three parties, or the streams between two, established
// and agreed. Of three it outlives its connections: when a link fails, the parties connect anew
// and go on where they stood, as long as all three still hold the session's state. Else a
// new one, with new keys, takes its place.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "link/bulk_stream.h"
#include "link/link.h"
#include "session/owners_note.h"
#include "session/security.h"
#include "session/zero_generator.h"

namespace tkdc {

inline constexpr std::uint16_t kProtocolVersion = 9;
inline constexpr int kMaxLanes = 64;             // 6 bits in the GCM nonce
inline constexpr std::size_t kMaxProtocols = 8;  // that a party offers

// How AES state stands in memory and on the wire. Agreed per session: bytes
// only when all three parties offer it (their CPUs have GFNI).
enum class Representation : std::uint8_t { kPlanes = 0, kBytes = 1 };

// Keys of the zero- and random-sharings of one lane: `mine` is component i's,
// `next` component i+1's. Fresh per session (security: HKDF over both holders'
// contributions and the TLS exporter, bound to installation, session and lane); and
// what makes the zero-shares of them, agreed per session.
struct PairwiseKeys {
  SecretBuffer mine{32};
  SecretBuffer next{32};
  ZeroGenerator zero_generator = ZeroGenerator::kAesCtr;
};

// Bulk streams of one lane, beside its link: a writer and a reader to each neighbour. Between two
// parties the other one is the next, and there is no previous and no link.
struct LaneStreams {
  std::unique_ptr<BulkWriter> to_prev, to_next;
  std::unique_ptr<BulkReader> from_prev, from_next;
  // Of the handshake that made them, the same at all three servers; that of another is another one
  // but for a chance of 1/256.
  std::uint8_t handshake = 0;
};

struct LaneLink {
  std::unique_ptr<Link> link;          // null between two parties
  PairwiseKeys keys;                   // of three
  std::optional<LaneStreams> streams;  // where the session has them, and has_streams()
};

// Lane 0 makes and removes keys; its jobs wait for the disk. Where it is not alone it has no bulk
// streams.
constexpr bool has_streams(int lane, int lanes) { return lanes == 1 || lane > 0; }

using SessionId = std::array<std::uint8_t, 32>;  // hash of the parties' nonces; zeros: none

// A protocol that a party offers, and which messages it has there (session/wire_format.h).
struct OfferedProtocol {
  std::string name;
  std::uint64_t wire_format = 0;
  bool operator==(const OfferedProtocol&) const = default;
};

// The protocol of two parties, and the only one there.
inline constexpr std::string_view kPairProtocol = "pair";

// A session in which a party that has nothing gets its entries from the two others. It is offered
// like a feature (MeshOptions). All three offer it for one party and one order, or there is none.
struct NewcomerOffer {
  std::string name;
  std::string needs;        // a feature: without it there is no such session
  int party = 0;            // which has nothing
  std::uint64_t order = 0;  // the owner's: all three must have the same
};

struct Session {
  SessionId id{};
  // New connections of the session of this id, which all three hold: of what follows only the
  // links are filled in.
  bool goes_on = false;
  // A new one, although this server holds an earlier one: which of the others alone does not.
  std::optional<int> forgotten_by;
  int party = 0;
  Representation representation = Representation::kPlanes;
  Security security = Security::kSemiHonest;
  ZeroGenerator zero_generator = ZeroGenerator::kAesCtr;
  bool two_parts = false;             // docs/protocols/17-two-part-hmac.md
  std::vector<std::string> features;  // MeshOptions::features that all three offer alike
  // It is to give this party its entries, and for nothing else: its inventory is no one's.
  std::optional<int> newcomer;
  // 20 bits of the GCM nonce, reserved on disk by all three before use; and its era. Two parties
  // seal under no such nonce: it is this party's own count of sessions.
  std::uint32_t epoch = 0, era = 0;
  std::array<OwnersNote, 3> notes{};   // by party, of when the session was made
  std::vector<std::string> protocols;  // that all three have, the one that is used most first
  bool streams = false;                // beside lanes, for MeshOptions::streamed
  std::vector<LaneLink> lanes;

  bool has(std::string_view feature) const {
    return std::ranges::find(features, feature) != features.end();
  }
};

}  // namespace tkdc
