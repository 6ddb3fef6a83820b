// SPDX-License-Identifier: Apache-2.0
// What a key's record has, from the key: RFC 3961's DK with RFC 3962's parameters, RFC 8009's
// KDF-HMAC-SHA2, and the hash's states behind HMAC's two pads. Key usages are public and in the
// circuit. Of Ke the key itself is left, since whole operations expand it (operations.cc).
//
// RFC 8009 derives from the pad states of the base key, which its PRF begins with too: so they are
// made once, and what is derived begins behind them.
#pragma once

#include "base/n_fold.h"
#include "circuits/enctype.h"

namespace tkdc::circuits {

// RFC 3961, section 5.1.
enum class Derived : std::uint8_t { kKc = 0x99, kKe = 0xaa, kKi = 0x55 };

inline Bytes usage_constant(std::uint32_t usage, Derived kind) {
  Bytes out;
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::uint8_t>(usage >> shift));
  out.push_back(static_cast<std::uint8_t>(kind));
  return out;
}

// Before the first block: FIPS 180-4, section 5.3.
template <class Hash>
std::span<const std::uint8_t> initial_state();
template <>
std::span<const std::uint8_t> initial_state<Sha1Circuit>();
template <>
std::span<const std::uint8_t> initial_state<Sha256Circuit>();
template <>
std::span<const std::uint8_t> initial_state<Sha384Circuit>();

// RFC 2104's states behind both pads, of a key that is no longer than a block.
template <class Hash, Context C>
Bits<C> hmac_pads(C& c, BitSpan<C> key) {
  using Span = BitSpan<C>;
  assert(key.size() <= Hash::kBlockBits);
  Bits<C> block(key.begin(), key.end()), out;
  block.resize(Hash::kBlockBits, c.constant(false));
  const Bits<C> initial = circuit::constant_octets(c, initial_state<Hash>());
  for (const std::uint8_t octet : {0x36, 0x5c}) {
    const std::vector<std::uint8_t> pad(Hash::kBlockBits / 8, octet);
    const Bits<C> constant = circuit::constant_octets(c, pad);
    const Bits<C> padded = circuit::xor_bits(c, Span(block), Span(constant));
    circuit::append<typename C::Bit>(out, compress_all<Hash>(c, Span(initial), Span(padded)));
  }
  return out;
}

// DK, from the base key's round keys: as long as the base key.
template <class E, Context C>
Bits<C> derived_key(C& c, BitSpan<C> round_keys, ByteSpan constant) {
  const Bytes folded = n_fold(constant);
  Bits<C> block = circuit::constant_octets(c, folded), key;
  while (key.size() < E::kBaseBits) {
    block = aes_encrypt(c, round_keys, BitSpan<C>(block));
    circuit::append<typename C::Bit>(key, block);
  }
  return key;
}

// RFC 8009, section 3, without a context: so many bits, of one digest.
template <class E, Context C>
Bits<C> kdf_hmac(C& c, BitSpan<C> base, ByteSpan label, std::size_t bits) {
  constexpr std::size_t kState = E::Hash::kStateBits;
  assert(bits <= E::Hash::kDigestBits);
  Bytes message = {0, 0, 0, 1};
  message.insert(message.end(), label.begin(), label.end());
  for (const std::size_t octet : {std::size_t{0}, std::size_t{0}, std::size_t{0}, bits >> 8, bits})
    message.push_back(static_cast<std::uint8_t>(octet));
  const Bits<C> in = circuit::constant_octets(c, message);
  Bits<C> out =
      hmac_of<typename E::Hash>(c, base.first(kState), base.subspan(kState), BitSpan<C>(in));
  out.resize(bits);
  return out;
}

// What keys are derived from: RFC 3962's key, RFC 8009's pad states.
template <class E>
inline constexpr std::size_t kSourceBits = E::kMacOfPlain ? E::kBaseBits : E::kPadsBits;

// Derives keys of one base key, of which it expands the schedule once.
template <class E, Context C>
class Deriver {
 public:
  Deriver(C& c, BitSpan<C> source) : c_(c), source_(source.begin(), source.end()) {
    assert(source.size() == kSourceBits<E>);
    if constexpr (E::kMacOfPlain) source_ = aes_expand(c, source);
  }
  Bits<C> ke(std::uint32_t usage) { return key(usage, Derived::kKe, E::kBaseBits); }
  // The pad states of Ki or Kc.
  Bits<C> pads(std::uint32_t usage, Derived kind) {
    const Bits<C> mac_key = key(usage, kind, E::kMacOfPlain ? E::kBaseBits : E::kMacBits);
    return hmac_pads<typename E::Hash>(c_, BitSpan<C>(mac_key));
  }

 private:
  Bits<C> key(std::uint32_t usage, Derived kind, std::size_t bits) {
    const Bytes constant = usage_constant(usage, kind);
    if constexpr (E::kMacOfPlain) {
      return derived_key<E>(c_, BitSpan<C>(source_), constant);
    } else {
      return kdf_hmac<E>(c_, BitSpan<C>(source_), constant, bits);
    }
  }

  C& c_;
  Bits<C> source_;
};

}  // namespace tkdc::circuits
