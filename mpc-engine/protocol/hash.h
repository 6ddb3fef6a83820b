// SPDX-License-Identifier: Apache-2.0
// The hash functions that protocols compute (FIPS 180-4), by what is public of them.
#pragma once

#include <array>

#include "base/secret.h"
#include "protocol/unit.h"

namespace tkdc {

// State and blocks are big-endian octets.
struct HashFunction {
  Unit blocks, hmac;  // as protocols compute it
  std::size_t state_bytes, block_bytes;
  std::size_t length_bytes;  // of the length behind a message's padding
  std::size_t digest_bytes;  // the state's first octets
  std::array<std::uint8_t, 64> initial_state;

  ByteSpan initial() const { return ByteSpan(initial_state).first(state_bytes); }
  // Of a message of so many octets, with its padding.
  std::size_t blocks_of(std::size_t bytes) const {
    return (bytes + 1 + length_bytes + block_bytes - 1) / block_bytes;
  }
  // What stands behind a message of so many octets, of which `before` (whole blocks) are in the
  // state already.
  Bytes padding(std::size_t bytes, std::size_t before) const;
};
extern const HashFunction kSha1, kSha256, kSha384;
inline constexpr std::size_t kSha1StateBytes = 20, kSha1BlockBytes = 64;

}  // namespace tkdc
