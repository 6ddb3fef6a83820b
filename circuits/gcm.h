// SPDX-License-Identifier: Apache-2.0
// What AES-GCM computes by AES (SP 800-38D, sections 6.5 and 7), for keys that only the KDC
// verifies (docs/protocols/08-own-realm-tickets.md). GHASH is not here: of public octets it is
// linear, and of shared ones it is one layer of replicated sharing.
//
// Blocks of one stream have most of their counters in common: the recorder finds that the first two
// rounds are alike, and a block more costs less than the first one.
#pragma once

#include "circuits/aes.h"
#include "circuits/compare.h"

namespace tkdc::circuits {

inline constexpr std::size_t kGcmNonceBits = 96;

namespace gcm_detail {

// AES of nonce || counter.
template <Context C>
Bits<C> counter_block(C& c, BitSpan<C> keys, BitSpan<C> nonce, std::uint32_t counter) {
  std::uint8_t octets[4];
  for (std::size_t k = 0; k < 4; ++k)
    octets[k] = static_cast<std::uint8_t>(counter >> (24 - 8 * k));
  Bits<C> block(nonce.begin(), nonce.end());
  circuit::append<typename C::Bit>(block, circuit::constant_octets(c, octets));
  return aes_encrypt(c, keys, BitSpan<C>(block));
}

template <Context C>
Bits<C> stream(C& c, BitSpan<C> keys, BitSpan<C> nonce, std::size_t blocks) {
  Bits<C> out;
  for (std::size_t k = 0; k < blocks; ++k)
    circuit::append<typename C::Bit>(
        out, counter_block(c, keys, nonce, static_cast<std::uint32_t>(k + 2)));
  return out;
}

}  // namespace gcm_detail

// AES_K(J0), which masks the tag, and so many blocks of the keystream.
template <Context C>
Bits<C> gcm_stream(C& c, BitSpan<C> key, BitSpan<C> nonce, std::size_t blocks) {
  const Bits<C> keys = aes_expand(c, key);
  Bits<C> out = gcm_detail::counter_block(c, BitSpan<C>(keys), nonce, 1);
  circuit::append<typename C::Bit>(out, gcm_detail::stream(c, BitSpan<C>(keys), nonce, blocks));
  return out;
}

// The keystream, zeros unless AES_K(J0) is `mask`: a tag that is right plus its GHASH.
template <Context C>
Gated<C> gcm_stream_if(C& c, BitSpan<C> key, BitSpan<C> nonce, BitSpan<C> mask,
                       std::size_t blocks) {
  const Bits<C> keys = aes_expand(c, key);
  const Bits<C> right = gcm_detail::counter_block(c, BitSpan<C>(keys), nonce, 1);
  const Bits<C> value = gcm_detail::stream(c, BitSpan<C>(keys), nonce, blocks);
  return open_if_equal(c, BitSpan<C>(right), mask, BitSpan<C>(value));
}

// Whether `checksum` is AES_K(hash), cut or filled up with zeros to its length.
template <Context C>
typename C::Bit gcm_signature_is(C& c, BitSpan<C> key, BitSpan<C> hash, BitSpan<C> checksum) {
  const Bits<C> keys = aes_expand(c, key);
  Bits<C> signature = aes_encrypt(c, BitSpan<C>(keys), hash);
  signature.resize(checksum.size(), c.constant(false));
  return circuit::equal(c, BitSpan<C>(signature), checksum);
}

}  // namespace tkdc::circuits
