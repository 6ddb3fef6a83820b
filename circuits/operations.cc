// SPDX-License-Identifier: Apache-2.0
// Whole operations of enctypes 17 to 20 in the catalogue, and what a key of the GCM form computes
// by AES: what protocols garble. Sizes are those of what a caller brings: a sealed text to OPEN,
// else the plaintext or the data.
//
// Ciphers' keys come as keys, although a record has all their round keys: the schedule is 1,280 or
// 1,664 ANDs, made ahead, and each bit of an input costs a job 16 octets from either garbler.
#include "circuits/catalogue_entry.h"
#include "circuits/enctype.h"
#include "circuits/gcm.h"

namespace tkdc::circuits {
namespace {

template <class C>
using Span = BitSpan<C>;

// Whether a check held, as an octet.
template <Context C>
void put_holds(C& c, const typename C::Bit& holds) {
  Bits<C> octet(8, c.constant(false));
  octet[0] = holds;
  c.output("holds", Span<C>(octet));
}

template <class E>
struct Open {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const auto ke = c.input("ke", E::kBaseBits), ki = c.input("ki", E::kPadsBits);
    const auto sealed = c.input("sealed", 8 * octets);
    const auto keys = aes_expand(c, Span<C>(ke));
    const auto gated = enctype_open<E>(c, Span<C>(keys), Span<C>(ki), Span<C>(sealed));
    put_holds(c, gated.equal);
    c.output("plain", Span<C>(gated.value));
  }
};

template <class E, bool Head = false>
struct Seal {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const auto ke = c.input("ke", E::kBaseBits), ki = c.input("ki", E::kPadsBits);
    const auto confounder = c.input("confounder", E::kConfounderBits);
    const auto plain = c.input("plain", 8 * octets);
    const auto keys = aes_expand(c, Span<C>(ke));
    const Span<C> k(keys), i(ki), r(confounder), p(plain);
    if constexpr (Head) {
      c.output("ciphertext and state", Span<C>(enctype_seal_head<E>(c, k, i, r, p)));
    } else {
      c.output("sealed", Span<C>(enctype_seal<E>(c, k, i, r, p)));
    }
  }
};

template <class E>
struct Checksum {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const auto pads = c.input("kc", E::kPadsBits), data = c.input("data", 8 * octets);
    c.output("checksum", Span<C>(enctype_mac<E>(c, Span<C>(pads), Span<C>(data))));
  }
};

template <class E>
struct Tail {
  template <Context C>
  static void run(C& c, std::size_t) {
    const auto pads = c.input("kc", E::kPadsBits), digest = c.input("digest", E::Hash::kDigestBits);
    c.output("checksum", Span<C>(enctype_mac_tail<E>(c, Span<C>(pads), Span<C>(digest))));
  }
};

template <class E>
struct Verify {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const auto pads = c.input("kc", E::kPadsBits), data = c.input("data", 8 * octets);
    const auto checksum = c.input("checksum", E::kMacBits);
    put_holds(c, enctype_verify<E>(c, Span<C>(pads), Span<C>(data), Span<C>(checksum)));
  }
};

template <class E>
struct Prf {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const auto base = c.input("base", E::kMacOfPlain ? E::kKeyBits : E::kPadsBits);
    const auto in = c.input("in", 8 * octets);
    if constexpr (E::kMacOfPlain) {
      c.output("prf", Span<C>(rfc3962_prf<E>(c, Span<C>(base), Span<C>(in))));
    } else {
      c.output("prf", Span<C>(rfc8009_prf<E>(c, Span<C>(base), Span<C>(in))));
    }
  }
};

template <std::size_t KeyBits>
struct GcmStream {
  template <Context C>
  static void run(C& c, std::size_t blocks) {
    const auto key = c.input("key", KeyBits), nonce = c.input("nonce", kGcmNonceBits);
    c.output("tag's mask and keystream",
             Span<C>(gcm_stream(c, Span<C>(key), Span<C>(nonce), blocks)));
  }
};

template <std::size_t KeyBits>
struct GcmOpen {
  template <Context C>
  static void run(C& c, std::size_t blocks) {
    const auto key = c.input("key", KeyBits), nonce = c.input("nonce", kGcmNonceBits);
    const auto mask = c.input("tag's mask", kAesBlockBits);
    const auto gated = gcm_stream_if(c, Span<C>(key), Span<C>(nonce), Span<C>(mask), blocks);
    put_holds(c, gated.equal);
    c.output("keystream", Span<C>(gated.value));
  }
};

template <std::size_t KeyBits>
struct GcmVerify {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const auto key = c.input("key", KeyBits), hash = c.input("hash", kAesBlockBits);
    const auto checksum = c.input("checksum", 8 * octets);
    put_holds(c, gcm_signature_is(c, Span<C>(key), Span<C>(hash), Span<C>(checksum)));
  }
};

constexpr std::string_view k3962 = "RFC 3962", k8009 = "RFC 8009";
constexpr std::string_view kOpen = "plaintext if the MAC holds", kSeal = "ciphertext and MAC";
constexpr std::string_view kHead = "seal's first part: ciphertext, hash state";
constexpr std::string_view k38D = "SP 800-38D";
constexpr std::string_view kStream = "tag's mask, keystream";
constexpr std::string_view kStreamIf = "keystream if the tag's mask is the one given";
constexpr std::string_view kSignature = "whether a PAC signature of the GCM form holds";
constexpr std::string_view kMac = "checksum", kVerify = "whether a checksum holds", kPrf = "PRF";

template <class Body>
constexpr Named of(std::string_view name, std::string_view meaning, std::string_view source,
                   std::size_t least, std::size_t usual) {
  return of_octets<Body>(name, meaning, source, least, usual);
}

// Of a ticket up to 4 KB.
template <class Body>
constexpr Named of_gcm_blocks(std::string_view name, std::string_view meaning) {
  return named<Body>(name, meaning, k38D, 0, {}, "blocks", 1, 8, 256);
}
template <class Body>
constexpr Named of_signature(std::string_view name) {
  return named<Body>(name, kSignature, "own", 0, {}, "octets", 12, 12, 24);
}

constexpr Named kOperations[] = {
    of<Open<Enctype17>>("open17", kOpen, k3962, 28, 60),
    of<Open<Enctype18>>("open18", kOpen, k3962, 28, 60),
    of<Open<Enctype19>>("open19", kOpen, k8009, 32, 64),
    of<Open<Enctype20>>("open20", kOpen, k8009, 40, 72),
    of<Seal<Enctype17>>("seal17", kSeal, k3962, 0, 249),
    of<Seal<Enctype18>>("seal18", kSeal, k3962, 0, 249),
    of<Seal<Enctype19>>("seal19", kSeal, k8009, 0, 249),
    of<Seal<Enctype20>>("seal20", kSeal, k8009, 0, 249),
    of<Seal<Enctype17, true>>("seal-head17", kHead, k3962, 48, 249),
    of<Seal<Enctype18, true>>("seal-head18", kHead, k3962, 48, 249),
    of<Checksum<Enctype18>>("mac-sha1", kMac, k3962, 0, 64),
    of<Checksum<Enctype19>>("mac-sha256", kMac, k8009, 0, 64),
    of<Checksum<Enctype20>>("mac-sha384", kMac, k8009, 0, 64),
    named<Tail<Enctype18>>("mac-tail-sha1", "checksum from the inner digest", k3962),
    of<Verify<Enctype18>>("verify-sha1", kVerify, k3962, 0, 64),
    of<Verify<Enctype19>>("verify-sha256", kVerify, k8009, 0, 64),
    of<Verify<Enctype20>>("verify-sha384", kVerify, k8009, 0, 64),
    of<Prf<Enctype17>>("prf17", kPrf, k3962, 0, 16),
    of<Prf<Enctype18>>("prf18", kPrf, k3962, 0, 16),
    of<Prf<Enctype19>>("prf19", kPrf, k8009, 0, 16),
    of<Prf<Enctype20>>("prf20", kPrf, k8009, 0, 16),
    of_gcm_blocks<GcmStream<128>>("gcm-stream128", kStream),
    of_gcm_blocks<GcmStream<256>>("gcm-stream256", kStream),
    of_gcm_blocks<GcmOpen<128>>("gcm-open128", kStreamIf),
    of_gcm_blocks<GcmOpen<256>>("gcm-open256", kStreamIf),
    of_signature<GcmVerify<128>>("gcm-verify128"),
    of_signature<GcmVerify<256>>("gcm-verify256"),
};

}  // namespace

std::span<const Named> operations() { return kOperations; }

}  // namespace tkdc::circuits
