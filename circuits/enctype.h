// SPDX-License-Identifier: Apache-2.0
// Whole operations of Kerberos' enctypes 17 to 20 (RFC 3962, RFC 8009), each as one circuit: OPEN,
// SEAL, MAC, VERIFY, PRF, and those of two parts (docs/protocols/17-two-part-hmac.md). Of Ke they
// take the round keys, of Ki and Kc the hash's states behind HMAC's two pads. Lengths are the
// caller's, and public.
//
// OPEN compares the MAC and lets the plaintext through only where it holds: whatever is refused
// yields zeros. Whether it held is the octet 1 or 0.
#pragma once

#include "circuits/compare.h"
#include "circuits/cts.h"
#include "circuits/hmac.h"

namespace tkdc::circuits {

// `kMacOfPlain`: RFC 3962's MAC is of the plaintext, RFC 8009's of the cipher state and ciphertext.
template <class HashCircuit, std::size_t Rounds, std::size_t MacBits, bool MacOfPlain>
struct Enctype {
  using Hash = HashCircuit;
  static constexpr std::size_t kKeyBits = (Rounds + 1) * kAesBlockBits;  // of round keys
  static constexpr std::size_t kBaseBits = Rounds == 10 ? 128 : 256;     // of a key
  static constexpr std::size_t kPadsBits = 2 * Hash::kStateBits;
  static constexpr std::size_t kMacBits = MacBits;
  static constexpr std::size_t kConfounderBits = kAesBlockBits;
  static constexpr bool kMacOfPlain = MacOfPlain;
};
using Enctype17 = Enctype<Sha1Circuit, 10, 96, true>;
using Enctype18 = Enctype<Sha1Circuit, 14, 96, true>;
using Enctype19 = Enctype<Sha256Circuit, 10, 128, false>;
using Enctype20 = Enctype<Sha384Circuit, 14, 192, false>;

namespace enctype_detail {

template <class C>
Bits<C> joined(BitSpan<C> first, BitSpan<C> second) {
  Bits<C> out(first.begin(), first.end());
  circuit::append<typename C::Bit>(out, second);
  return out;
}

template <Context C>
Bits<C> zeros(C& c, std::size_t bits) {
  return Bits<C>(bits, c.constant(false));
}

}  // namespace enctype_detail

// The checksum of `data`. `pads`: the inner state, then the outer one.
template <class E, Context C>
Bits<C> enctype_mac(C& c, BitSpan<C> pads, BitSpan<C> data) {
  assert(pads.size() == E::kPadsBits);
  const std::size_t state = E::Hash::kStateBits;
  Bits<C> mac = hmac_of<typename E::Hash>(c, pads.first(state), pads.subspan(state), data);
  mac.resize(E::kMacBits);
  return mac;
}

// Of a sealed text, whose message (confounder and plaintext) and ciphertext these are.
template <class E, Context C>
Bits<C> mac_of_sealed(C& c, BitSpan<C> ki, BitSpan<C> message, BitSpan<C> ciphertext) {
  if (E::kMacOfPlain) return enctype_mac<E>(c, ki, message);
  const Bits<C> iv = enctype_detail::zeros(c, kAesBlockBits);
  const Bits<C> covered = enctype_detail::joined<C>(iv, ciphertext);
  return enctype_mac<E>(c, ki, BitSpan<C>(covered));
}

// The ciphertext and the MAC.
template <class E, Context C>
Bits<C> enctype_seal(C& c, BitSpan<C> ke, BitSpan<C> ki, BitSpan<C> confounder, BitSpan<C> plain) {
  using Span = BitSpan<C>;
  const Bits<C> message = enctype_detail::joined<C>(confounder, plain);
  const Bits<C> iv = enctype_detail::zeros(c, kAesBlockBits);
  Bits<C> sealed = cts_encrypt(c, ke, Span(iv), Span(message));
  const Bits<C> mac = mac_of_sealed<E>(c, ki, Span(message), Span(sealed));
  circuit::append<typename C::Bit>(sealed, mac);
  return sealed;
}

// RFC 3962's ciphertext without its MAC, and the inner hash's state after the first block of the
// message, which has one at least.
template <class E, Context C>
Bits<C> enctype_seal_head(C& c, BitSpan<C> ke, BitSpan<C> ki, BitSpan<C> confounder,
                          BitSpan<C> plain) {
  static_assert(E::kMacOfPlain);
  using Span = BitSpan<C>;
  const Bits<C> message = enctype_detail::joined<C>(confounder, plain);
  const Bits<C> iv = enctype_detail::zeros(c, kAesBlockBits);
  Bits<C> out = cts_encrypt(c, ke, Span(iv), Span(message));
  const Bits<C> head = compress_all<typename E::Hash>(c, ki.first(E::Hash::kStateBits),
                                                      Span(message).first(E::Hash::kBlockBits));
  circuit::append<typename C::Bit>(out, head);
  return out;
}

// The checksum of a message whose inner digest this is.
template <class E, Context C>
Bits<C> enctype_mac_tail(C& c, BitSpan<C> pads, BitSpan<C> digest) {
  Bits<C> mac = hmac_of_digest<typename E::Hash>(c, pads.subspan(E::Hash::kStateBits), digest);
  mac.resize(E::kMacBits);
  return mac;
}

// `sealed`: a confounder and a MAC at least.
template <class E, Context C>
Gated<C> enctype_open(C& c, BitSpan<C> ke, BitSpan<C> ki, BitSpan<C> sealed) {
  using Span = BitSpan<C>;
  assert(sealed.size() >= E::kConfounderBits + E::kMacBits);
  const Span ciphertext = sealed.first(sealed.size() - E::kMacBits);
  const Bits<C> iv = enctype_detail::zeros(c, kAesBlockBits);
  const Bits<C> message = cts_decrypt(c, ke, Span(iv), ciphertext);
  const Bits<C> mac = mac_of_sealed<E>(c, ki, Span(message), ciphertext);
  return open_if_equal(c, Span(mac), sealed.last(E::kMacBits),
                       Span(message).subspan(E::kConfounderBits));
}

template <class E, Context C>
typename C::Bit enctype_verify(C& c, BitSpan<C> pads, BitSpan<C> data, BitSpan<C> checksum) {
  const Bits<C> mac = enctype_mac<E>(c, pads, data);
  return circuit::equal(c, BitSpan<C>(mac), checksum);
}

// RFC 3961, section 5.3, with the base key's round keys: AES under DK(base, "prf") of the input's
// digest, cut to a block.
template <class E, Context C>
Bits<C> rfc3962_prf(C& c, BitSpan<C> base, BitSpan<C> in) {
  using Span = BitSpan<C>;
  // The 128-fold of "prf".
  constexpr std::uint8_t kFolded[] = {0xc0, 0x8b, 0xe5, 0x21, 0x22, 0xf8, 0xf0, 0x23,
                                      0x39, 0x89, 0x08, 0xfd, 0xbc, 0x08, 0xce, 0x21};
  Bits<C> block = circuit::constant_octets(c, kFolded), key;
  while (key.size() < E::kBaseBits) {
    block = aes_encrypt(c, base, Span(block));
    circuit::append<typename C::Bit>(key, block);
  }
  const Bits<C> keys = aes_expand(c, Span(key));
  // FIPS 180-4, section 5.3.1.
  constexpr std::uint8_t kInitial[] = {0x67, 0x45, 0x23, 0x01, 0xef, 0xcd, 0xab, 0x89, 0x98, 0xba,
                                       0xdc, 0xfe, 0x10, 0x32, 0x54, 0x76, 0xc3, 0xd2, 0xe1, 0xf0};
  const Bits<C> initial = circuit::constant_octets(c, kInitial);
  const Bits<C> blocks = padded<Sha1Circuit>(c, in, 0);
  const Bits<C> digest = compress_all<Sha1Circuit>(c, Span(initial), Span(blocks));
  return aes_encrypt(c, Span(keys), Span(digest).first(kAesBlockBits));
}

// RFC 8009, sections 3 and 5, with the base key's pad states: a whole digest.
template <class E, Context C>
Bits<C> rfc8009_prf(C& c, BitSpan<C> base, BitSpan<C> in) {
  constexpr std::size_t kState = E::Hash::kStateBits, kBits = E::Hash::kDigestBits;
  constexpr std::uint8_t kFront[] = {0, 0, 0, 1, 'p', 'r', 'f', 0};
  constexpr std::uint8_t kBack[] = {0, 0, kBits >> 8, kBits & 0xff};
  Bits<C> message = circuit::constant_octets(c, kFront);
  circuit::append<typename C::Bit>(message, in);
  circuit::append<typename C::Bit>(message, circuit::constant_octets(c, kBack));
  return hmac_of<typename E::Hash>(c, base.first(kState), base.subspan(kState),
                                   BitSpan<C>(message));
}

}  // namespace tkdc::circuits
