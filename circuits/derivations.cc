// SPDX-License-Identifier: Apache-2.0
// Circuits for the making of keys of enctypes 17 to 20, by name: a record's fields from a base key,
// whether two keys are one, and keys of one operation (RFC 6113). The size of what is derived is
// the key usage. No table lists them: each usage is another circuit.
#include "circuits/catalogue_entry.h"
#include "circuits/derive.h"

namespace tkdc::circuits {

template <>
std::span<const std::uint8_t> initial_state<Sha1Circuit>() {
  static constexpr std::uint8_t kState[] = {0x67, 0x45, 0x23, 0x01, 0xef, 0xcd, 0xab,
                                            0x89, 0x98, 0xba, 0xdc, 0xfe, 0x10, 0x32,
                                            0x54, 0x76, 0xc3, 0xd2, 0xe1, 0xf0};
  return kState;
}
template <>
std::span<const std::uint8_t> initial_state<Sha256Circuit>() {
  static constexpr std::uint8_t kState[] = {0x6a, 0x09, 0xe6, 0x67, 0xbb, 0x67, 0xae, 0x85,
                                            0x3c, 0x6e, 0xf3, 0x72, 0xa5, 0x4f, 0xf5, 0x3a,
                                            0x51, 0x0e, 0x52, 0x7f, 0x9b, 0x05, 0x68, 0x8c,
                                            0x1f, 0x83, 0xd9, 0xab, 0x5b, 0xe0, 0xcd, 0x19};
  return kState;
}
template <>
std::span<const std::uint8_t> initial_state<Sha384Circuit>() {
  static constexpr std::uint8_t kState[] = {
      0xcb, 0xbb, 0x9d, 0x5d, 0xc1, 0x05, 0x9e, 0xd8, 0x62, 0x9a, 0x29, 0x2a, 0x36,
      0x7c, 0xd5, 0x07, 0x91, 0x59, 0x01, 0x5a, 0x30, 0x70, 0xdd, 0x17, 0x15, 0x2f,
      0xec, 0xd8, 0xf7, 0x0e, 0x59, 0x39, 0x67, 0x33, 0x26, 0x67, 0xff, 0xc0, 0x0b,
      0x31, 0x8e, 0xb4, 0x4a, 0x87, 0x68, 0x58, 0x15, 0x11, 0xdb, 0x0c, 0x2e, 0x0d,
      0x64, 0xf9, 0x8f, 0xa7, 0x47, 0xb5, 0x48, 0x1d, 0xbe, 0xfa, 0x4f, 0xa4};
  return kState;
}

namespace {

constexpr std::size_t kPrfPlusBits = 256;

template <class C>
using Span = BitSpan<C>;

template <class E>
struct DeriveEncryption {
  template <Context C>
  static void run(C& c, std::size_t usage) {
    const auto source = c.input("base", kSourceBits<E>);
    Deriver<E, C> deriver(c, Span<C>(source));
    const auto number = static_cast<std::uint32_t>(usage);
    const auto ke = deriver.ke(number), ki = deriver.pads(number, Derived::kKi);
    c.output("ke", Span<C>(ke));
    c.output("ki", Span<C>(ki));
  }
};

template <class E>
struct DeriveChecksum {
  template <Context C>
  static void run(C& c, std::size_t usage) {
    const auto source = c.input("base", kSourceBits<E>);
    Deriver<E, C> deriver(c, Span<C>(source));
    c.output("kc", Span<C>(deriver.pads(static_cast<std::uint32_t>(usage), Derived::kKc)));
  }
};

// What PRF+ starts from: DK of "prf", or the key's pad states.
template <class E>
struct PrfBase {
  template <Context C>
  static void run(C& c, std::size_t) {
    const auto key = c.input("key", E::kBaseBits);
    if constexpr (E::kMacOfPlain) {
      static constexpr std::uint8_t kPrf[] = {'p', 'r', 'f'};
      const auto round_keys = aes_expand(c, Span<C>(key));
      c.output("prf", Span<C>(derived_key<E>(c, Span<C>(round_keys), kPrf)));
    } else {
      c.output("prf", Span<C>(hmac_pads<typename E::Hash>(c, Span<C>(key))));
    }
  }
};

// PRF+ of a key, 32 octets of it (RFC 6113, section 5.1), from what its record has. `in`: public.
// RFC 3962: the first blocks of two digests. RFC 8009: the message of one HMAC behind the pad's
// block, padded, since one digest is long enough.
template <class E>
struct PrfPlus {
  template <Context C>
  static void run(C& c, std::size_t blocks) {
    constexpr std::size_t kState = E::Hash::kStateBits;
    if constexpr (E::kMacOfPlain) {
      const auto prf = c.input("prf", E::kBaseBits), in = c.input("in", kPrfPlusBits);
      const auto keys = aes_expand(c, Span<C>(prf));
      Bits<C> out;
      for (std::size_t at = 0; at < kPrfPlusBits; at += kAesBlockBits)
        circuit::append<typename C::Bit>(
            out, aes_encrypt(c, Span<C>(keys), Span<C>(in).subspan(at, kAesBlockBits)));
      c.output("prf+", Span<C>(out));
    } else {
      const auto prf = c.input("prf", E::kPadsBits);
      const auto in = c.input("in", blocks * E::Hash::kBlockBits);
      Bits<C> out = hmac<typename E::Hash>(c, Span<C>(prf).first(kState),
                                           Span<C>(prf).subspan(kState), Span<C>(in));
      out.resize(kPrfPlusBits);
      c.output("prf+", Span<C>(out));
    }
  }
};

// Of the exclusive-or of PRF+ and the half that the KDC knows: what one operation takes.
template <class E, bool Encryption>
struct FastKeys {
  template <Context C>
  static void run(C& c, std::size_t usage) {
    const auto half = c.input("prf+", E::kBaseBits), known = c.input("known", E::kBaseBits);
    Bits<C> source = circuit::xor_bits(c, Span<C>(half), Span<C>(known));
    if constexpr (!E::kMacOfPlain) source = hmac_pads<typename E::Hash>(c, Span<C>(source));
    Deriver<E, C> deriver(c, Span<C>(source));
    const auto number = static_cast<std::uint32_t>(usage);
    if constexpr (Encryption) {
      const auto ke = deriver.ke(number), ki = deriver.pads(number, Derived::kKi);
      c.output("ke", Span<C>(ke));
      c.output("ki", Span<C>(ki));
    } else {
      c.output("kc", Span<C>(deriver.pads(number, Derived::kKc)));
    }
  }
};

struct Equal {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const auto a = c.input("key", 8 * octets), b = c.input("other", 8 * octets);
    Bits<C> holds(8, c.constant(false));
    holds[0] = circuit::equal(c, Span<C>(a), Span<C>(b));
    c.output("holds", Span<C>(holds));
  }
};

constexpr std::string_view kSeals = "Ke, and pad states of Ki", kSums = "pad states of Kc";
constexpr std::string_view kDk = "RFC 3962", kKdf = "RFC 8009";
constexpr std::string_view kStarts = "what PRF+ starts from", kPrfPlus = "PRF+, 32 octets";
constexpr std::string_view kFastSeals = "Ke, and pad states of Ki, of a key in FAST";
constexpr std::string_view kFastSums = "pad states of Kc, of a key in FAST", kFast = "RFC 6113";

template <class Body>
constexpr Named of_usage(std::string_view name, std::string_view meaning, std::string_view source) {
  return named<Body>(name, meaning, source, 0, {}, "usages", 1, 3, 1023);
}

// The longest message of a pepper of 512 octets has nine blocks.
template <class E>
constexpr Named of_prf_plus(std::string_view name) {
  return named<PrfPlus<E>>(name, kPrfPlus, kFast, 0, {}, E::kMacOfPlain ? "" : "blocks", 1, 1,
                           E::kMacOfPlain ? 1 : 9);
}

constexpr Named kDerivations[] = {
    of_usage<DeriveEncryption<Enctype17>>("derive-encryption17", kSeals, kDk),
    of_usage<DeriveEncryption<Enctype18>>("derive-encryption18", kSeals, kDk),
    of_usage<DeriveEncryption<Enctype19>>("derive-encryption19", kSeals, kKdf),
    of_usage<DeriveEncryption<Enctype20>>("derive-encryption20", kSeals, kKdf),
    of_usage<DeriveChecksum<Enctype17>>("derive-checksum17", kSums, kDk),
    of_usage<DeriveChecksum<Enctype18>>("derive-checksum18", kSums, kDk),
    of_usage<DeriveChecksum<Enctype19>>("derive-checksum19", kSums, kKdf),
    of_usage<DeriveChecksum<Enctype20>>("derive-checksum20", kSums, kKdf),
    named<PrfBase<Enctype17>>("prf-base17", kStarts, kDk),
    named<PrfBase<Enctype18>>("prf-base18", kStarts, kDk),
    named<PrfBase<Enctype19>>("prf-base19", kStarts, kKdf),
    named<PrfBase<Enctype20>>("prf-base20", kStarts, kKdf),
    of_prf_plus<Enctype17>("prf-plus17"),
    of_prf_plus<Enctype18>("prf-plus18"),
    of_prf_plus<Enctype19>("prf-plus19"),
    of_prf_plus<Enctype20>("prf-plus20"),
    of_usage<FastKeys<Enctype17, true>>("fast-encryption17", kFastSeals, kFast),
    of_usage<FastKeys<Enctype18, true>>("fast-encryption18", kFastSeals, kFast),
    of_usage<FastKeys<Enctype19, true>>("fast-encryption19", kFastSeals, kFast),
    of_usage<FastKeys<Enctype20, true>>("fast-encryption20", kFastSeals, kFast),
    of_usage<FastKeys<Enctype17, false>>("fast-checksum17", kFastSums, kFast),
    of_usage<FastKeys<Enctype18, false>>("fast-checksum18", kFastSums, kFast),
    of_usage<FastKeys<Enctype19, false>>("fast-checksum19", kFastSums, kFast),
    of_usage<FastKeys<Enctype20, false>>("fast-checksum20", kFastSums, kFast),
    of_octets<Equal>("equal-keys", "whether two keys are one", "own", 16, 32),
};

}  // namespace

std::span<const Named> derivations() { return kDerivations; }

}  // namespace tkdc::circuits
