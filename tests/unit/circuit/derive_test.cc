// SPDX-License-Identifier: Apache-2.0
// What a record has of a key, by circuits and by the shares of three servers: the same fields,
// with the same lengths.
#include <openssl/sha.h>

#include "cipher/derived_keys.h"
#include "cipher/prf_plus.h"
#include "circuit/linear_form.h"
#include "circuit_values.h"

namespace tkdc::circuit {
namespace {

Task<SharedBytes> prf_plus_of(Protocol& protocol, const Rfc8009* sha2, SharedBytes key,
                              Bytes pepper) {
  const SharedBytes states = co_await prf_states(protocol, sha2, std::move(key));
  co_return co_await prf_plus(protocol, sha2, states, std::move(pepper), 32);
}

class DeriveCircuit : public testing::TestWithParam<std::uint32_t> {
 protected:
  std::string named(const std::string& what) const { return what + std::to_string(GetParam()); }
  // A key, and RFC 8009's pad states of it.
  Bytes key() const { return random_octets(GetParam() % 2 == 1 ? 16 : 32); }
  Bytes source_of(const Bytes& key) const {
    return GetParam() <= 18 ? key : run_body(named("prf-base"), {key})[0];
  }
  // PRF+'s input as its circuit takes it, by OpenSSL and RFC 8009's words; and the circuit's size.
  std::pair<std::string, Bytes> prf_input(const Bytes& pepper) const {
    Bytes message{1};
    message.insert(message.end(), pepper.begin(), pepper.end());
    if (GetParam() <= 18) {
      Bytes out;
      for (message[0] = 1; message[0] <= 2; ++message[0]) {
        Bytes digest(SHA_DIGEST_LENGTH);
        ::SHA1(message.data(), message.size(), digest.data());
        out.insert(out.end(), digest.begin(), digest.begin() + 16);
      }
      return {"", out};
    }
    const bool short_key = GetParam() == 19;
    Bytes out = octets("0000000170726600");
    const Bytes bits = octets(short_key ? "00000100" : "00000180");
    out.insert(out.end(), message.begin(), message.end());
    out.insert(out.end(), bits.begin(), bits.end());
    const std::size_t block = short_key ? 64 : 128;
    const std::uint64_t length = 8 * (block + out.size());
    out.push_back(0x80);
    while (out.size() % block != block - 8) out.push_back(0);
    for (int shift = 56; shift >= 0; shift -= 8)
      out.push_back(static_cast<std::uint8_t>(length >> shift));
    return {":" + std::to_string(out.size() / block), out};
  }
};

TEST_P(DeriveCircuit, DerivesWhatThreeServersDerive) {
  for (const std::uint32_t usage : {1u, 17u, 513u}) {
    const Bytes base = key(), source = source_of(base);
    const auto keys = test::derive_all(GetParam(), 1, base, usage);
    Bytes ke = keys->rebuild(keys->ke);
    ke.resize(base.size());  // a key's schedule begins with the key (FIPS 197, section 5.2)
    const std::string size = ":" + std::to_string(usage);
    const auto encryption = run_body(named("derive-encryption") + size, {source});
    EXPECT_EQ(encryption[0], ke);
    EXPECT_EQ(encryption[1], keys->rebuild(keys->ki));
    EXPECT_EQ(run_body(named("derive-checksum") + size, {source})[0], keys->rebuild(keys->kc));
  }
}

TEST_P(DeriveCircuit, StartsThePrfAsThreeServersDo) {
  const Bytes base = key();
  test::ProtocolParties parties(1);
  const auto shares = parties.share(SecretVector(base.begin(), base.end()));
  const auto states = parties.shares_of([&](Protocol& c, int p) {
    return prf_states(c, GetParam() <= 18 ? nullptr : &rfc8009_of(base.size()),
                      shares[static_cast<std::size_t>(p)]);
  });
  Bytes expected = parties.rebuild(states);
  if (GetParam() <= 18) expected.resize(base.size());
  EXPECT_EQ(run_body(named("prf-base"), {base})[0], expected);
}

// Peppers of one block of the hash and of several.
TEST_P(DeriveCircuit, MakesPrfPlusAsThreeServersDo) {
  for (const std::size_t octets : {8u, 300u}) {
    const Bytes base = key(), prf = run_body(named("prf-base"), {base})[0];
    const Bytes pepper = random_octets(octets);
    test::ProtocolParties parties(1);
    const auto shares = parties.share(SecretVector(base.begin(), base.end()));
    const Rfc8009* sha2 = GetParam() <= 18 ? nullptr : &rfc8009_of(base.size());
    const auto halves = parties.shares_of([&](Protocol& c, int p) {
      return prf_plus_of(c, sha2, shares[static_cast<std::size_t>(p)], pepper);
    });
    const auto [size, in] = prf_input(pepper);
    EXPECT_EQ(run_body(named("prf-plus") + size, {prf, in})[0], parties.rebuild(halves)) << octets;
  }
}

// Keys of one operation are those of the exclusive-or of both halves.
TEST_P(DeriveCircuit, DerivesFromTwoHalves) {
  const Bytes half = key(), known = key();
  Bytes base = half;
  for (std::size_t k = 0; k < base.size(); ++k) base[k] ^= known[k];
  const Bytes source = source_of(base);
  EXPECT_EQ(run_body(named("fast-encryption") + ":54", {half, known}),
            run_body(named("derive-encryption") + ":54", {source}));
  EXPECT_EQ(run_body(named("fast-checksum") + ":56", {half, known}),
            run_body(named("derive-checksum") + ":56", {source}));
}

INSTANTIATE_TEST_SUITE_P(All, DeriveCircuit, testing::Values(17u, 18u, 19u, 20u));

// What is recorded is the body, and has no AND that a garbler must not have.
TEST(Derivations, RecordedAsTheyCompute) {
  for (const char* name : {"derive-encryption17:3", "derive-checksum19:56", "prf-plus19:2",
                           "fast-encryption18:54", "equal-keys:16"}) {
    const auto chosen = *circuits::find_named(name);
    const Circuit recorded = circuits::record(chosen);
    EXPECT_EQ(ands_of_constants(recorded), 0u) << name;
    std::vector<SecretSlices> inputs;
    for (const Port& port : recorded.inputs)
      inputs.push_back(slices_of(ByteSpan(random_octets(port.bits / 8))));
    Plain plain(inputs);
    chosen.named->compute(plain, chosen.size);
    EXPECT_TRUE(evaluate(schedule_of(recorded), inputs) == plain.outputs()) << name;
  }
}

TEST(Derivations, EqualKeys) {
  const Bytes key = random_octets(16);
  EXPECT_EQ(run_named("equal-keys:16", {key, key}), Bytes{1});
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Bytes other = key;
    other[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    ASSERT_EQ(run_named("equal-keys:16", {key, other}), Bytes{0}) << bit;
  }
}

TEST(Derivations, RefusesUsagesThatAreNone) {
  for (const char* name : {"derive-encryption17:0", "derive-checksum17:1024", "prf-base17:2",
                           "prf-plus18:2", "prf-plus19:10", "fast-checksum20:0"})
    EXPECT_FALSE(circuits::find_named(name).ok()) << name;
}

}  // namespace
}  // namespace tkdc::circuit
