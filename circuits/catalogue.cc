// SPDX-License-Identifier: Apache-2.0
#include "circuits/catalogue.h"

#include <charconv>

#include "circuit/linear_form.h"
#include "circuits/aes.h"
#include "circuits/compare.h"
#include "circuits/cts.h"
#include "circuits/hmac.h"

namespace tkdc::circuits {
namespace {

using circuit::Recorder;

template <class C>
using Span = BitSpan<C>;

// Each body reads its inputs from the context and leaves its outputs there.
template <bool Forward>
struct Sbox {
  template <Context C>
  static void run(C& c, std::size_t) {
    const auto x = c.input("octet", 8);
    const AesSbox& box = Forward ? AesSbox::forward() : AesSbox::inverse();
    c.output("image", Span<C>(box(c, Span<C>(x))));
  }
};

template <std::size_t Rounds, bool Forward>
struct Aes {
  template <Context C>
  static void run(C& c, std::size_t) {
    const auto keys = c.input("round keys", (Rounds + 1) * kAesBlockBits);
    const auto block = c.input("block", kAesBlockBits);
    c.output("block", Span<C>(Forward ? aes_encrypt(c, Span<C>(keys), Span<C>(block))
                                      : aes_decrypt(c, Span<C>(keys), Span<C>(block))));
  }
};

template <std::size_t KeyBits>
struct AesOfKey {
  template <Context C>
  static void run(C& c, std::size_t) {
    const auto key = c.input("key", KeyBits), block = c.input("block", kAesBlockBits);
    const auto keys = aes_expand(c, Span<C>(key));
    c.output("block", Span<C>(aes_encrypt(c, Span<C>(keys), Span<C>(block))));
  }
};

template <std::size_t KeyBits>
struct Expand {
  template <Context C>
  static void run(C& c, std::size_t) {
    const auto key = c.input("key", KeyBits);
    c.output("round keys", Span<C>(aes_expand(c, Span<C>(key))));
  }
};

template <std::size_t Rounds, bool Forward>
struct Cts {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const auto keys = c.input("round keys", (Rounds + 1) * kAesBlockBits);
    const auto iv = c.input("iv", kAesBlockBits), text = c.input("text", 8 * octets);
    c.output("text", Span<C>(Forward ? cts_encrypt(c, Span<C>(keys), Span<C>(iv), Span<C>(text))
                                     : cts_decrypt(c, Span<C>(keys), Span<C>(iv), Span<C>(text))));
  }
};

template <class Hash, Adder adder = Adder::kRipple>
struct Blocks {
  template <Context C>
  static void run(C& c, std::size_t blocks) {
    const auto state = c.input("state", Hash::kStateBits);
    const auto data = c.input("blocks", blocks * Hash::kBlockBits);
    c.output("state", Span<C>(compress_all<Hash>(c, Span<C>(state), Span<C>(data), adder)));
  }
};

template <class Hash>
struct Mac {
  template <Context C>
  static void run(C& c, std::size_t blocks) {
    const auto inner = c.input("inner state", Hash::kStateBits);
    const auto outer = c.input("outer state", Hash::kStateBits);
    const auto data = c.input("blocks", blocks * Hash::kBlockBits);
    c.output("mac", Span<C>(hmac<Hash>(c, Span<C>(inner), Span<C>(outer), Span<C>(data))));
  }
};

struct OpenIfEqual {
  template <Context C>
  static void run(C& c, std::size_t octets) {
    const auto tag = c.input("tag", 96), expected = c.input("expected", 96);
    const auto value = c.input("value", 8 * octets);
    const auto gated = open_if_equal(c, Span<C>(tag), Span<C>(expected), Span<C>(value));
    c.output("equal", Span<C>(&gated.equal, 1));
    c.output("value", Span<C>(gated.value));
  }
};

struct LessThan {
  template <Context C>
  static void run(C& c, std::size_t bits) {
    const auto a = c.input("a", bits), b = c.input("b", bits);
    const auto less = circuit::less_than(c, Span<C>(a), Span<C>(b));
    c.output("less", Span<C>(&less, 1));
  }
};

template <Adder adder>
struct Add {
  template <Context C>
  static void run(C& c, std::size_t) {
    const auto a = c.input("a", 64), b = c.input("b", 64);
    Word<C, 64> x, y;
    std::copy(a.begin(), a.end(), x.bit.begin());
    std::copy(b.begin(), b.end(), y.bit.begin());
    c.output("sum", Span<C>(circuit::add(c, x, y, adder).bit));
  }
};

constexpr std::string_view kBp = "Boyar, Peralta 2010: 32 an S-box";
constexpr std::string_view kFips197 = "FIPS 197", kRfc3962 = "RFC 3962";
constexpr std::string_view kFips180 = "FIPS 180-4", kRfc2104 = "RFC 2104";
constexpr std::string_view kSha1Count = "own estimate, ripple adders";
constexpr std::string_view kCollection = "Bristol Fashion collection";
constexpr Named kParts[] = {
    named<Sbox<true>>("aes-sbox", "S-box on an octet", kFips197, 32, kBp),
    named<Sbox<false>>("aes-inverse-sbox", "inverse S-box on an octet", kFips197, 32, kBp),
    named<Aes<10, true>>("aes128-encrypt", "a block, round keys given", kFips197, 5120, kBp),
    named<Aes<10, false>>("aes128-decrypt", "a block, round keys given", kFips197, 5120, kBp),
    named<Aes<14, true>>("aes256-encrypt", "a block, round keys given", kFips197, 7168, kBp),
    named<Aes<14, false>>("aes256-decrypt", "a block, round keys given", kFips197, 7168, kBp),
    named<Expand<128>>("aes128-expand", "round keys of a key", kFips197, 1280, kBp),
    named<Expand<256>>("aes256-expand", "round keys of a key", kFips197, 1664, kBp),
    named<AesOfKey<128>>("aes128", "a block under a key", kFips197, 6400, kCollection),
    named<AesOfKey<256>>("aes256", "a block under a key", kFips197, 8832, kCollection),
    of_octets<Cts<10, true>>("cts128-encrypt", "CBC-CTS", kRfc3962, 16, 64),
    of_octets<Cts<10, false>>("cts128-decrypt", "CBC-CTS", kRfc3962, 16, 64),
    of_octets<Cts<14, true>>("cts256-encrypt", "CBC-CTS", kRfc3962, 16, 64),
    of_octets<Cts<14, false>>("cts256-decrypt", "CBC-CTS", kRfc3962, 16, 64),
    of_blocks<Blocks<Sha1Circuit>>("sha1", "state after blocks", kFips180, 11035, kSha1Count),
    of_blocks<Blocks<Sha256Circuit>>("sha256", "state after blocks", kFips180, 22573, kCollection),
    of_blocks<Blocks<Sha512Circuit>>("sha512", "state after blocks; SHA-384's too", kFips180, 57947,
                                     kCollection),
    of_blocks<Blocks<Sha1Circuit, Adder::kPrefix>>("sha1-shallow", "sha1 with prefix adders",
                                                   kFips180),
    of_blocks<Blocks<Sha256Circuit, Adder::kPrefix>>("sha256-shallow", "sha256 with prefix adders",
                                                     kFips180),
    of_blocks<Blocks<Sha512Circuit, Adder::kPrefix>>("sha512-shallow", "sha512 with prefix adders",
                                                     kFips180),
    of_blocks<Mac<Sha1Circuit>>("hmac-sha1", "HMAC from pad states", kRfc2104),
    of_blocks<Mac<Sha256Circuit>>("hmac-sha256", "HMAC from pad states", kRfc2104),
    of_blocks<Mac<Sha384Circuit>>("hmac-sha384", "HMAC from pad states", kRfc2104),
    of_octets<OpenIfEqual>("open-if-equal", "a value if two tags of 96 bits are equal", "own", 1,
                           60),
    named<LessThan>("less-than", "a < b", "own", 0, {}, "bits", 1, 64, 4096),
    named<Add<Adder::kRipple>>("add64", "sum of two words", "ripple", 63, kCollection),
    named<Add<Adder::kPrefix>>("add64-shallow", "sum of two words", "Sklansky 1960"),
};

}  // namespace

std::span<const Named> catalogue() {
  static const std::vector<Named> kAll = [] {
    std::vector<Named> all(std::begin(kParts), std::end(kParts));
    all.insert(all.end(), operations().begin(), operations().end());
    return all;
  }();
  return kAll;
}

namespace {

const Named* find_body(std::string_view name, std::initializer_list<std::span<const Named>> lists) {
  for (const auto& list : lists)
    for (const Named& named : list)
      if (named.name == name) return &named;
  return nullptr;
}

Result<Chosen> find_in(std::initializer_list<std::span<const Named>> lists, std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (const Named* named = find_body(name, lists)) {
    if (colon == std::string_view::npos) return Chosen{named, named->usual};
    const std::string_view size = text.substr(colon + 1);
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), value);
    if (error != std::errc() || end != size.data() + size.size() || named->unit.empty() ||
        value < named->least || value > named->most)
      return fail("circuit " + std::string(name) + " has " +
                  (named->unit.empty()
                       ? std::string("no size")
                       : std::string(named->unit) + " from " + std::to_string(named->least) +
                             " to " + std::to_string(named->most)) +
                  ", not '" + std::string(size) + "'");
    return Chosen{named, value};
  }
  return fail("no circuit has the name '" + std::string(name) +
              "'; `tkdc circuit table` lists them");
}

}  // namespace

Result<Chosen> find_named(std::string_view text) {
  return find_in({catalogue(), derivations()}, text);
}

Result<Chosen> find_around(std::string_view text) { return find_in({around_tables()}, text); }

circuit::Circuit record(const Chosen& chosen) {
  Recorder recorder;
  chosen.named->record(recorder, chosen.size);
  circuit::Circuit recorded = recorder.finish();
  if (circuit::ands_of_constants(recorded) == 0) return recorded;
  return circuit::without_constant_operands(recorded);
}

}  // namespace tkdc::circuits
