// SPDX-License-Identifier: Apache-2.0
// AES on shares against FIPS 197 and OpenSSL, for every backend.
#include "rep3/unit/aes/aes.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "support/openssl_ecb.h"
#include "support/rep3_backends.h"
#include "support/three_parties.h"

namespace tkdc {
namespace {

using test::openssl_ecb;
using test::ThreeParties;

// Three parties with an AES service each; keys expanded on shares.
struct Fixture {
  explicit Fixture(const Rep3Backend& backend, std::uint64_t seed)
      : net(backend.representation(), seed) {
    for (int p = 0; p < 3; ++p) aes[p] = std::make_unique<Aes>(*net.party[p], backend);
  }
  std::array<SharedBytes, 3> expand(ByteSpan key) {
    auto shares = net.share(key);
    auto result = net.shares_of([&](int p) { return expand_one(p, shares[p]); });
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return *result;
  }
  Task<SharedBytes> expand_one(int p, SharedBytes key) {
    std::vector<SharedBytes> keys;
    keys.push_back(std::move(key));
    std::vector<SharedBytes> expanded = co_await aes_round_keys(*net.party[p], std::move(keys));
    co_return std::move(expanded.front());
  }
  Bytes crypt(const std::array<SharedBytes, 3>& keys, ByteSpan in, bool encrypt) {
    auto shares = net.share(in);
    auto out = net.shares_of([&](int p) {
      return encrypt ? aes[p]->encrypt(keys[p], shares[p]) : aes[p]->decrypt(keys[p], shares[p]);
    });
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().message);
    EXPECT_TRUE(ThreeParties::consistent(*out));
    return ThreeParties::rebuild(*out);
  }
  ThreeParties net;
  std::unique_ptr<Aes> aes[3];
};

class AesOnShares : public testing::TestWithParam<const Rep3Backend*> {};

TEST_P(AesOnShares, Fips197AppendixC) {
  Fixture s(*GetParam(), 1);
  Bytes plain, key;
  for (int k = 0; k < 16; ++k) plain.push_back(static_cast<std::uint8_t>(k * 0x11));
  for (int k = 0; k < 32; ++k) key.push_back(static_cast<std::uint8_t>(k));
  const Bytes expected128 = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                             0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
  const Bytes expected256 = {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf,
                             0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89};
  auto keys128 = s.expand(ByteSpan(key).first(16));
  auto keys256 = s.expand(key);
  EXPECT_EQ(s.crypt(keys128, plain, true), expected128);
  EXPECT_EQ(s.crypt(keys256, plain, true), expected256);
  EXPECT_EQ(s.crypt(keys128, expected128, false), plain);
  EXPECT_EQ(s.crypt(keys256, expected256, false), plain);
}

TEST_P(AesOnShares, AgreesWithOpensslOnRandomInputs) {
  Fixture s(*GetParam(), 2);
  for (std::size_t key_bytes : {16u, 32u})
    for (std::size_t blocks : {1u, 2u, 7u, 8u, 33u, 100u}) {
      auto key = test::random_bytes(s.net.rng(), key_bytes);
      auto in = test::random_bytes(s.net.rng(), 16 * blocks);
      auto keys = s.expand(key);
      EXPECT_EQ(s.crypt(keys, in, true), openssl_ecb(key, in, true)) << blocks;
      EXPECT_EQ(s.crypt(keys, in, false), openssl_ecb(key, in, false)) << blocks;
    }
}

TEST_P(AesOnShares, RequestsOfDifferentJobsRunTogether) {
  Fixture s(*GetParam(), 3);
  constexpr int kJobs = 9;
  std::vector<SecretVector> keys, inputs;
  std::vector<std::array<SharedBytes, 3>> round_keys, in, out(kJobs);
  for (int k = 0; k < kJobs; ++k) {
    keys.push_back(test::random_bytes(s.net.rng(), k % 2 ? 16 : 32));
    inputs.push_back(test::random_bytes(s.net.rng(), 16 * (static_cast<std::size_t>(k) + 1)));
    round_keys.push_back(s.expand(keys.back()));
    in.push_back(s.net.share(inputs.back()));
  }
  auto one = [&](int p, std::size_t k) -> Task<void> {
    out[k][p] = co_await s.aes[p]->encrypt(round_keys[k][p], in[k][p]);
  };
  std::uint64_t before = s.net.party[0]->lane.rounds();
  auto ran = s.net.run([&](int p) {
    std::vector<Task<void>> jobs;
    for (std::size_t k = 0; k < kJobs; ++k) jobs.push_back(one(p, k));
    return all(s.net.party[p]->lane, std::move(jobs));
  });
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(s.net.party[0]->lane.rounds() - before, 56u);
  for (std::size_t k = 0; k < kJobs; ++k)
    EXPECT_EQ(ThreeParties::rebuild(out[k]), openssl_ecb(keys[k], inputs[k], true)) << k;
}

TEST_P(AesOnShares, CountsRoundsAndBytes) {
  for (auto [key_bytes, rounds, bytes] : {std::tuple{16u, 40u, 360u}, std::tuple{32u, 56u, 504u}}) {
    Fixture s(*GetParam(), 4);
    auto keys = s.expand(test::random_bytes(s.net.rng(), key_bytes));
    auto rounds_before = s.net.party[1]->lane.rounds();
    auto bytes_before = s.net.party[1]->layer_bytes();
    s.crypt(keys, test::random_bytes(s.net.rng(), 16 * 64), true);
    EXPECT_EQ(s.net.party[1]->lane.rounds() - rounds_before, rounds);
    EXPECT_EQ(s.net.party[1]->layer_bytes() - bytes_before, 64u * bytes);
  }
}

TEST_P(AesOnShares, EveryMessageBitMatters) {
  Fixture s(*GetParam(), 5);
  auto key = test::random_bytes(s.net.rng(), 16);
  auto in = test::random_bytes(s.net.rng(), 16 * 8);
  auto keys = s.expand(key);
  const Bytes expected = openssl_ecb(key, in, true);
  for (std::uint64_t round : {0u, 1u, 2u, 3u, 39u}) {
    std::uint64_t target = s.net.party[0]->lane.rounds() + round;
    s.net.tamper = [&](int p, SecretVector& to_prev, SecretVector&) {
      if (p == 1 && s.net.party[0]->lane.rounds() == target) to_prev[3] ^= 4;
    };
    auto shares = s.net.share(in);
    auto out = s.net.shares_of([&](int p) { return s.aes[p]->encrypt(keys[p], shares[p]); });
    s.net.tamper = nullptr;
    ASSERT_TRUE(out.ok());
    EXPECT_FALSE(ThreeParties::consistent(*out) && ThreeParties::rebuild(*out) == expected)
        << round;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Backends, AesOnShares, testing::ValuesIn(test::rep3_backends()), [](const auto& backend) {
      return backend.param->name() +
             (backend.param->representation() == Representation::kBytes ? "Bytes" : "Planes");
    });

}  // namespace
}  // namespace tkdc
