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
  static constexpr std::size_t kLengthBits = 64;
  template <Context C>
  static Bits<C> compress(C& c, BitSpan<C> state, BitSpan<C> block, Adder adder) {
    return sha1_compress(c, state, block, adder);
  }
};

template <std::size_t N, std::size_t DigestBits>
struct Sha2Circuit {
  static constexpr std::size_t kStateBits = 8 * N, kBlockBits = 16 * N, kDigestBits = DigestBits;
  static constexpr std::size_t kLengthBits = 2 * N;
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

// What stands behind a message of so many octets (FIPS 180-4, section 5.1) of which `before`, whole
// blocks, are in the state already.
template <class Hash>
std::vector<std::uint8_t> padding_of(std::size_t octets, std::size_t before) {
  constexpr std::size_t kBlock = Hash::kBlockBits / 8, kLength = Hash::kLengthBits / 8;
  const std::size_t whole = (octets + 1 + kLength + kBlock - 1) / kBlock * kBlock;
  std::vector<std::uint8_t> padding(whole - octets, 0);
  padding[0] = 0x80;
  const std::uint64_t bits = 8 * (std::uint64_t{before} + octets);
  for (std::size_t k = 0; k < 8; ++k)
    padding[padding.size() - 1 - k] = static_cast<std::uint8_t>(bits >> 8 * k);
  return padding;
}

// A message with its padding.
template <class Hash, Context C>
Bits<C> padded(C& c, BitSpan<C> message, std::size_t before) {
  Bits<C> out(message.begin(), message.end());
  const std::vector<std::uint8_t> padding = padding_of<Hash>(message.size() / 8, before);
  circuit::append<typename C::Bit>(out, circuit::constant_octets(c, padding));
  return out;
}

// From the inner digest: with its padding it is one block.
template <class Hash, Context C>
Bits<C> hmac_of_digest(C& c, BitSpan<C> outer, BitSpan<C> digest, Adder adder = Adder::kRipple) {
  assert(digest.size() == Hash::kDigestBits);
  const Bits<C> block = padded<Hash>(c, digest, Hash::kBlockBits / 8);
  Bits<C> mac = Hash::compress(c, outer, BitSpan<C>(block), adder);
  mac.resize(Hash::kDigestBits);
  return mac;
}

template <class Hash, Context C>
Bits<C> hmac(C& c, BitSpan<C> inner, BitSpan<C> outer, BitSpan<C> message,
             Adder adder = Adder::kRipple) {
  assert(inner.size() == Hash::kStateBits && outer.size() == Hash::kStateBits);
  Bits<C> digest = compress_all<Hash>(c, inner, message, adder);
  digest.resize(Hash::kDigestBits);
  return hmac_of_digest<Hash>(c, outer, BitSpan<C>(digest), adder);
}

// The same of a message that is not padded yet.
template <class Hash, Context C>
Bits<C> hmac_of(C& c, BitSpan<C> inner, BitSpan<C> outer, BitSpan<C> message) {
  const Bits<C> blocks = padded<Hash>(c, message, Hash::kBlockBits / 8);
  return hmac<Hash>(c, inner, outer, BitSpan<C>(blocks));
}

}  // namespace tkdc::circuits
