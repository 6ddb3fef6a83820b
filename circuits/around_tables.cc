// SPDX-License-Identifier: Apache-2.0
// What SEAL and OPEN of enctypes 17 to 20 have beside AES, for servers that compute AES by lookup
// tables (docs/protocols/29-tables-in-jobs.md): the MAC, its comparison, the gate. Sizes are those
// of SEAL and OPEN. No table lists them.
#include "circuits/catalogue_entry.h"
#include "circuits/enctype.h"

namespace tkdc::circuits {
namespace {

// `message`: confounder and plaintext, as tables have decrypted it. RFC 8009's MAC is of the
// ciphertext, which is an input too.
template <class E>
struct AroundOpen {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const std::size_t bits = 8 * octets - E::kMacBits;
    const auto ki = c.input("ki", E::kPadsBits), message = c.input("message", bits);
    Bits<C> ciphertext;
    if constexpr (!E::kMacOfPlain) ciphertext = c.input("ciphertext", bits);
    const auto expected = c.input("mac", E::kMacBits);
    const auto mac =
        mac_of_sealed<E>(c, BitSpan<C>(ki), BitSpan<C>(message), BitSpan<C>(ciphertext));
    const auto gated = open_if_equal(c, BitSpan<C>(mac), BitSpan<C>(expected),
                                     BitSpan<C>(message).subspan(E::kConfounderBits));
    Bits<C> holds(8, c.constant(false));
    holds[0] = gated.equal;
    c.output("holds", BitSpan<C>(holds));
    c.output("plain", BitSpan<C>(gated.value));
  }
};

// `ciphertext`: as tables have made it of the message, which RFC 3962's MAC is of.
template <class E>
struct AroundSeal {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const std::size_t bits = E::kConfounderBits + 8 * octets;
    const auto ki = c.input("ki", E::kPadsBits);
    Bits<C> message;
    if constexpr (E::kMacOfPlain) message = c.input("message", bits);
    const auto ciphertext = c.input("ciphertext", bits);
    Bits<C> sealed(ciphertext.begin(), ciphertext.end());
    const auto mac =
        mac_of_sealed<E>(c, BitSpan<C>(ki), BitSpan<C>(message), BitSpan<C>(ciphertext));
    circuit::append<typename C::Bit>(sealed, mac);
    c.output("sealed", BitSpan<C>(sealed));
  }
};

constexpr std::string_view kBesideOpen = "OPEN beside AES", kBesideSeal = "SEAL beside AES";
constexpr std::string_view kOfPlain = "RFC 3962", kOfCiphertext = "RFC 8009";

constexpr Named kAround[] = {
    of_octets<AroundOpen<Enctype17>>("around-open17", kBesideOpen, kOfPlain, 28, 60),
    of_octets<AroundOpen<Enctype18>>("around-open18", kBesideOpen, kOfPlain, 28, 60),
    of_octets<AroundOpen<Enctype19>>("around-open19", kBesideOpen, kOfCiphertext, 32, 64),
    of_octets<AroundOpen<Enctype20>>("around-open20", kBesideOpen, kOfCiphertext, 40, 72),
    of_octets<AroundSeal<Enctype17>>("around-seal17", kBesideSeal, kOfPlain, 0, 249),
    of_octets<AroundSeal<Enctype18>>("around-seal18", kBesideSeal, kOfPlain, 0, 249),
    of_octets<AroundSeal<Enctype19>>("around-seal19", kBesideSeal, kOfCiphertext, 0, 249),
    of_octets<AroundSeal<Enctype20>>("around-seal20", kBesideSeal, kOfCiphertext, 0, 249),
};

}  // namespace

std::span<const Named> around_tables() { return kAround; }

}  // namespace tkdc::circuits
