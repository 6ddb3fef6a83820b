// SPDX-License-Identifier: Apache-2.0
// The functions that protocols compute.
#pragma once

#include <cstdint>

namespace tkdc {

// A function on octets. `held` is what stands in a key's record, `data` what an operation brings;
// whole blocks are one at least.
enum class Unit : std::uint8_t {
  kAesEncrypt,  // FIPS 197. held: round keys, 16 octets each; data: whole blocks
  kAesDecrypt,
  kAesExpand128,  // data: keys of 16 octets; their round keys, one key's after the other's
  kAesExpand256,  // of 32 octets
  kSha1Blocks,    // FIPS 180-4. held: a state; data: whole blocks; the state after all of them
  kSha256Blocks,
  kSha384Blocks,
  // RFC 2104. held: the states after K ^ ipad and K ^ opad; data: the rest of the message, padded
  // to whole blocks; the MAC, a whole digest.
  kHmacSha1,
  kHmacSha256,
  kHmacSha384,
};

}  // namespace tkdc
