// SPDX-License-Identifier: Apache-2.0
// The session's id and the pairwise keys of its lanes.
//
// Component key k_i is held by P_i and P_{i-1}, and P_{i-1} is the one that
// dialled their link. For each lane
//   k_i = HKDF-SHA256(salt = session id,
//                     ikm  = contribution(P_{i-1}) || contribution(P_i) || TLS exporter,
//                     info = "tkdc pairwise key" || installation || session id || lane || i)
// so neither holder alone decides it, the third party learns nothing of it,
// and no two sessions, lanes or components share one.
#pragma once

#include "link/network.h"
#include "session/hello.h"

namespace tkdc {

// BLAKE2b-256 over the parties' nonces, in party order.
std::array<std::uint8_t, 32> session_id(const std::array<std::array<std::uint8_t, 32>, 3>& nonces);

// The same of two parties, which no three have.
std::array<std::uint8_t, 32> pair_session_id(
    const std::array<std::array<std::uint8_t, 32>, 2>& nonces);

struct KeyInputs {
  std::array<std::uint8_t, 16> installation{};
  std::array<std::uint8_t, 32> session{};
  int lane = 0;
  int component = 0;
  ByteSpan dialler;   // contribution of P_{component-1}
  ByteSpan acceptor;  // contribution of P_component
};

Result<void> derive_pairwise_key(const PacketStream& link, const KeyInputs& inputs,
                                 SecretBuffer& out);

}  // namespace tkdc
