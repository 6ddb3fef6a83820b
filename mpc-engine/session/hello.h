// SPDX-License-Identifier: Apache-2.0
// The first packet on each link: who speaks, for which installation, and what
// must be the same at all three before any share is touched.
//
// Secret: the key contribution. The rest is public to the three servers.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/codec.h"
#include "session/advice.h"
#include "session/course_tail.h"
#include "session/owners_note.h"
#include "session/refusal.h"
#include "session/session.h"

namespace tkdc {

inline constexpr std::size_t kMaxHelloBytes = 1024;
inline constexpr std::size_t kContributionBytes = 32;

// Of a lane's two bulk streams to the next party, among all connections of a session: the one that
// the caller writes, and the one that it reads.
constexpr int stream_number(int lane, int lanes, bool caller_writes) {
  return lanes + 2 * lane + (caller_writes ? 0 : 1);
}

struct Hello {
  std::uint16_t version = kProtocolVersion;
  std::array<std::uint8_t, 16> installation{};
  int party = 0;
  // Which connection: a lane's link, or behind all of those a lane's bulk streams
  // (stream_number()).
  int lane = 0;
  int lanes = 0;
  std::string security;                                     // "malicious" or "semi-honest"
  Representation representation = Representation::kPlanes;  // offered, may differ
  ZeroOffer zero_shares = ZeroOffer::kAesCtr;               // may differ, see can_agree()
  bool two_parts = false;                                   // allowed by this server, may differ
  std::uint64_t wire_format = 0;             // session/wire_format.h: all but the protocols'
  std::vector<OfferedProtocol> protocols;    // may differ, but for one
  std::uint32_t masked_blocks = 0;           // that each lane makes ahead (rep3/unit/rep3_offer.h)
  std::uint32_t cohort_limit = 0;            // jobs that a manifest may name
  std::array<std::uint8_t, 32> inventory{};  // may differ until prepared records are settled
  // Of nonces (session/epochs.h), as on this party's disk. The era is the same for all.
  std::uint32_t epoch_era = 0, epoch = 0, epoch_used = 0;
  std::array<std::uint8_t, 32> nonce{};  // one per attempt and party
  std::array<std::uint8_t, 32> round{};  // party 0's nonce: which attempt of all three
  OwnersNote note{};                     // of this party's owner
  SessionId held{};                      // which session's state this party holds
  CourseTail course;                     // of this lane in the session before
  SecretVector contribution;             // kContributionBytes, one per link
};

SecretVector encode_hello(const Hello& hello);

// Of another protocol version only `version` is filled in. Error: no HELLO.
Result<Hello> decode_hello(ByteSpan packet);

// Error: the first disagreement, with both values and what to do.
Result<void> check_hello(const Hello& mine, const Hello& theirs, int expected_party,
                         const SessionAdvice& advice = {});

// Small letters, digits and '-'.
bool is_protocol_name(const std::string& name);

// The names of those that all three offer alike, in the order of the first.
std::vector<std::string> common_protocols(const std::vector<OfferedProtocol>& first,
                                          const std::vector<OfferedProtocol>& second,
                                          const std::vector<OfferedProtocol>& third);

// What all three must have seen of one party, without the contribution.
Bytes public_part(const Hello& hello);

}  // namespace tkdc
