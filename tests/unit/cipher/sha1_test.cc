// SPDX-License-Identifier: Apache-2.0
// SHA-1 on shares against FIPS 180-4's example and OpenSSL.
#include "cipher/sha1/sha1.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "parties_with_ciphers.h"

namespace tkdc {
namespace {

using test::ThreeParties;

struct Parties {
  explicit Parties(std::uint64_t seed) : net(Representation::kBytes, seed) {
    for (int p = 0; p < 3; ++p) sha1[p] = std::make_unique<Sha1>(*net.party[p]);
  }
  Bytes hash(ByteSpan message) {
    auto shares = net.share(message);
    auto out =
        net.shares_of([&](int p) { return sha1[p]->finish(sha1[p]->initial(), shares[p], 0); });
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().message);
    EXPECT_TRUE(ThreeParties::consistent(*out));
    return ThreeParties::rebuild(*out);
  }
  ThreeParties net;
  std::unique_ptr<Sha1> sha1[3];
};

// Starts after so many rounds.
Task<void> hash_later(Ciphers& c, std::size_t rounds, SharedBytes in, SharedBytes& out) {
  for (std::size_t k = 0; k < rounds; ++k) {
    Layer layer = c.rep3.layer(1);
    *layer.mine() = 0;
    co_await layer;
  }
  out = co_await c.sha1.finish(c.sha1.initial(), std::move(in), 0);
  co_await c.rep3.verified();
}

TEST(Sha1OnShares, Fips180Example) {
  Parties s(1);
  const std::uint8_t message[] = {'a', 'b', 'c'};
  const Bytes expected = {0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
                          0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d};
  EXPECT_EQ(s.hash(message), expected);
}

TEST(Sha1OnShares, AgreesWithOpensslOnRandomInputs) {
  Parties s(2);
  for (std::size_t bytes : {0u, 1u, 54u, 55u, 56u, 63u, 64u, 65u, 200u}) {
    auto message = test::random_bytes(s.net.rng(), bytes);
    Bytes expected(20);
    ::SHA1(message.data(), bytes, expected.data());
    EXPECT_EQ(s.hash(message), expected) << bytes;
  }
}

TEST(Sha1OnShares, CountsRounds) {
  Parties s(3);
  auto message = test::random_bytes(s.net.rng(), 20);
  s.hash(message);
  EXPECT_EQ(s.net.party[0]->rounds(), Sha1::kStartRounds + Sha1::kBlockRounds);
  EXPECT_EQ(s.net.party[0]->layer_bytes(), Sha1::kStartBytes + Sha1::kBlockBytes);
}

TEST(Sha1OnShares, BlocksOfAMessageFollowEachOtherWithoutARoundBetween) {
  Parties s(5);
  auto message = test::random_bytes(s.net.rng(), 200);
  s.hash(message);
  EXPECT_EQ(s.net.party[0]->rounds(), Sha1::kStartRounds + 4 * Sha1::kBlockRounds);
  EXPECT_EQ(s.net.party[0]->layer_bytes(), Sha1::kStartBytes + 4 * Sha1::kBlockBytes);
}

TEST(Sha1OnShares, CompressionsOfDifferentJobsRunTogether) {
  Parties s(4);
  constexpr std::size_t kJobs = 5;
  std::vector<std::array<SharedBytes, 3>> in, out(kJobs);
  std::vector<SecretVector> messages;
  for (std::size_t k = 0; k < kJobs; ++k) {
    messages.push_back(test::random_bytes(s.net.rng(), 10 * k));
    in.push_back(s.net.share(messages.back()));
  }
  auto one = [&](int p, std::size_t k) -> Task<void> {
    out[k][p] = co_await s.sha1[p]->finish(s.sha1[p]->initial(), in[k][p], 0);
  };
  auto ran = s.net.run([&](int p) {
    std::vector<Task<void>> jobs;
    for (std::size_t k = 0; k < kJobs; ++k) jobs.push_back(one(p, k));
    return all(*s.net.party[p], std::move(jobs));
  });
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(s.net.party[0]->rounds(), Sha1::kStartRounds + Sha1::kBlockRounds);
  for (std::size_t k = 0; k < kJobs; ++k) {
    Bytes expected(20);
    ::SHA1(messages[k].data(), messages[k].size(), expected.data());
    EXPECT_EQ(ThreeParties::rebuild(out[k]), expected);
  }
}

// Chains of different lengths that start in different rounds share one grid: each ends
// where it would alone, in whatever column, and its claims hold.
TEST(Sha1OnShares, ChainsJoinAndLeaveInAnyOrder) {
  for (Security security : {Security::kSemiHonest, Security::kMalicious}) {
    test::PartiesWithCiphers parties(6, aes_backend_scalar(), security);
    constexpr std::size_t kChains = 24;
    std::vector<SecretVector> messages;
    std::vector<std::array<SharedBytes, 3>> in, out(kChains);
    std::vector<std::size_t> delays;
    for (std::size_t k = 0; k < kChains; ++k) {
      messages.push_back(test::random_bytes(parties.net.rng(), parties.net.rng()() % 200));
      in.push_back(parties.net.share(messages.back()));
      delays.push_back(parties.net.rng()() % 1500);
    }
    parties.run_all(kChains, [&](Ciphers& c, int p, std::size_t k) -> Task<void> {
      return hash_later(c, delays[k], in[k][p], out[k][p]);
    });
    for (std::size_t k = 0; k < kChains; ++k) {
      Bytes expected(20);
      ::SHA1(messages[k].data(), messages[k].size(), expected.data());
      EXPECT_TRUE(ThreeParties::consistent(out[k]));
      EXPECT_EQ(ThreeParties::rebuild(out[k]), expected) << k;
    }
  }
}

TEST(Sha1OnShares, HmacAgreesWithOpensslAndHasNoRoundBetweenItsHashes) {
  Parties s(7);
  for (std::size_t bytes : {0u, 20u, 55u, 56u, 130u}) {
    const auto key = test::random_bytes(s.net.rng(), 20);
    const auto data = test::random_bytes(s.net.rng(), bytes);
    std::array<SharedBytes, 3> states[2];
    for (int pad = 0; pad < 2; ++pad) {
      SecretVector block(kSha1BlockBytes);
      std::copy(key.begin(), key.end(), block.begin());
      for (auto& octet : block) octet ^= pad == 0 ? 0x36 : 0x5c;
      const auto shares = s.net.share(block);
      states[pad] = *s.net.shares_of(
          [&](int p) { return s.sha1[p]->compress(s.sha1[p]->initial(), shares[p]); });
    }
    const auto shares = s.net.share(data);
    const std::uint64_t before = s.net.party[0]->rounds();
    const std::uint64_t bytes_before = s.net.party[0]->layer_bytes();
    const auto mac = s.net.shares_of(
        [&](int p) { return s.sha1[p]->hmac(states[0][p], states[1][p], shares[p]); });
    ASSERT_TRUE(mac.ok());
    Bytes expected(20);
    ::HMAC(EVP_sha1(), key.data(), 20, data.data(), bytes, expected.data(), nullptr);
    EXPECT_EQ(ThreeParties::rebuild(*mac), expected) << bytes;
    const std::size_t blocks = (bytes + 9 + 63) / 64 + 1;
    EXPECT_EQ(s.net.party[0]->rounds() - before, Sha1::kStartRounds + blocks * Sha1::kBlockRounds);
    EXPECT_EQ(s.net.party[0]->layer_bytes() - bytes_before,
              Sha1::kStartBytes + blocks * Sha1::kBlockBytes);
  }
}

}  // namespace
}  // namespace tkdc
