// SPDX-License-Identifier: Apache-2.0
// What two parties derive for an instance from the pairwise key that they share:
//
//   PRF(k_i; "threegarble 1", purpose, e, lane, circuit's digest, n, more)      keyed BLAKE2b-256
//
// Two circuits, purposes or instances never share a stream: all of them are in its input. Keys are
// fresh for each session (session/session_keys.h) and this protocol's own (protocol/offer.h).
//
// Secret: keys, what is derived, streams. Where "more" is secret, it is D (binding.h).
#pragma once

#include <array>

#include "base/secret.h"
#include "garble/kernel.h"
#include "session/session.h"
#include "threegarble/roles.h"

namespace tkdc::threegarble {

using Digest = std::array<std::uint8_t, 32>;
inline constexpr std::size_t kDigestBytes = Digest{}.size(), kKeyBytes = 32;

enum class Purpose : std::uint8_t {
  kSeed = 1,         // A and B: the garbled circuit
  kMask = 2,         // B and E: ρ
  kCheckFirst = 3,   // B and E: the hash of the tables' first half
  kCheckSecond = 4,  // A and E: of the second half
  kStreamU = 5,      // A and B: what hides the labels of u, and the colours of v; with D
  kStreamV = 6,      // A and B: what hides the labels of v, and the bits b'; with D
};

struct InstanceId {
  std::uint32_t lane = 0;
  Digest circuit{};
  std::uint64_t n = 0;
  bool operator==(const InstanceId&) const = default;
};

// A party's seat: whose keys these are, and by which kernel it garbles. All kernels make the same
// octets.
struct Seat {
  int party = 0;
  const PairwiseKeys* keys = nullptr;
  const garble::Kernel* kernel = &garble::fastest_kernel();

  Role role(const InstanceId& id) const { return role_of(party, id.n); }
};

// kKeyBytes octets from the key that this party shares with `other`.
SecretVector derive(const Seat& seat, Role other, Purpose purpose, const InstanceId& id,
                    ByteSpan more = {});
// out ^= the stream of a derived key. ChaCha20; a key has one stream.
void add_stream(ByteSpan key, MutableByteSpan out);

}  // namespace tkdc::threegarble
