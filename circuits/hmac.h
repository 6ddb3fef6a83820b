// SPDX-License-Identifier: Apache-2.0
// HMAC (RFC 2104) from its pad states: the hash's states after K ^ ipad and after K ^ opad. The
// message is the rest of it, padded to whole blocks by the caller, with the length that counts the
// block before it (FIPS 180-4, section 5.1). The MAC is a whole digest.
#pragma once

#include "circuits/sha1.h"
#include "circuits/sha2.h"

namespace tkdc::circuits {

struct Sha1Circuit {
  static constexpr std::size_t kStateBits = 160, kBlockBits = 512, kDigestBits = 160;
  template <Context C>
  static Bits<C> compress(C& c, BitSpan<C> state, BitSpan<C> block, Adder adder) {
    return sha1_compress(c, state, block, adder);
  }
};

template <std::size_t N, std::size_t DigestBits>
struct Sha2Circuit {
  static constexpr std::size_t kStateBits = 8 * N, kBlockBits = 16 * N, kDigestBits = DigestBits;
  template <Context C>
  static Bits<C> compress(C& c, BitSpan<C> state, BitSpan<C> block, Adder adder) {
    return sha2_compress<N>(c, state, block, adder);
  }
};
using Sha256Circuit = Sha2Circuit<32, 256>;
using Sha384Circuit = Sha2Circuit<64, 384>;
using Sha512Circuit = Sha2Circuit<64, 512>;

// The state after all blocks.
template <class Hash, Context C>
Bits<C> compress_all(C& c, BitSpan<C> state, BitSpan<C> blocks, Adder adder = Adder::kRipple) {
  assert(blocks.size() % Hash::kBlockBits == 0);
  Bits<C> now(state.begin(), state.end());
  for (std::size_t at = 0; at < blocks.size(); at += Hash::kBlockBits)
    now = Hash::compress(c, BitSpan<C>(now), blocks.subspan(at, Hash::kBlockBits), adder);
  return now;
}

template <class Hash, Context C>
Bits<C> hmac(C& c, BitSpan<C> inner, BitSpan<C> outer, BitSpan<C> message,
             Adder adder = Adder::kRipple) {
  assert(inner.size() == Hash::kStateBits && outer.size() == Hash::kStateBits);
  Bits<C> digest = compress_all<Hash>(c, inner, message, adder);
  digest.resize(Hash::kDigestBits);
  // A digest and its padding are one block: 0x80, zeros, the length of opad's block and the digest.
  std::vector<std::uint8_t> padding((Hash::kBlockBits - Hash::kDigestBits) / 8, 0);
  constexpr std::size_t kLength = Hash::kBlockBits + Hash::kDigestBits;
  static_assert(kLength < 65536);
  padding[0] = 0x80;
  padding[padding.size() - 2] = static_cast<std::uint8_t>(kLength >> 8);
  padding.back() = static_cast<std::uint8_t>(kLength & 0xff);
  circuit::append<typename C::Bit>(digest, circuit::constant_octets(c, padding));
  Bits<C> mac = Hash::compress(c, outer, BitSpan<C>(digest), adder);
  mac.resize(Hash::kDigestBits);
  return mac;
}

}  // namespace tkdc::circuits
