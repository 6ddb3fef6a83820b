// SPDX-License-Identifier: Apache-2.0
// SHA-1 on shares against FIPS 180-4's example and OpenSSL.
#include "rep3/unit/sha1/sha1.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "cipher/rfc3962.h"
#include "hash_together.h"
#include "support/parties_with_ciphers.h"

namespace tkdc {
namespace {

using test::ThreeParties;

struct Parties {
  explicit Parties(std::uint64_t seed) : net(Representation::kBytes, seed) {
    for (int p = 0; p < 3; ++p) sha1[p] = std::make_unique<Sha1>(*net.party[p]);
  }
  Bytes hash(ByteSpan message) {
    auto shares = net.share(message);
    auto out = net.shares_of([&](int p) {
      return sha1[p]->compress(test::initial_of(kSha1, p), test::padded(kSha1, p, shares[p]));
    });
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().message);
    EXPECT_TRUE(ThreeParties::consistent(*out));
    return ThreeParties::rebuild(*out);
  }
  ThreeParties net;
  std::unique_ptr<Sha1> sha1[3];
};

// Starts after so many rounds.
Task<void> hash_later(Rep3Protocol& c, std::size_t rounds, SharedBytes in, SharedBytes& out) {
  for (std::size_t k = 0; k < rounds; ++k) {
    Layer layer = c.rep3.layer(1);
    *layer.mine() = 0;
    co_await layer;
  }
  out = co_await hash_rest(c, kSha1, c.share_public(kSha1.initial()), std::move(in), 0);
  co_await c.rep3.verified();
}

Task<SharedBytes> bulk_hmac(Rep3Protocol& c, SharedBytes key, SharedBytes data) {
  const SharedBytes pads = co_await hmac_pad_states(c, kSha1, std::move(key), Work::kBulk);
  SharedBytes mac = co_await hmac(c, kSha1, pads, std::move(data), Work::kBulk);
  co_await c.rep3.verified();
  co_return mac;
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
  EXPECT_EQ(s.net.party[0]->lane.rounds(), Sha1::kStartRounds + Sha1::kBlockRounds);
  EXPECT_EQ(s.net.party[0]->layer_bytes(), Sha1::kStartBytes + Sha1::kBlockBytes);
}

TEST(Sha1OnShares, BlocksOfAMessageFollowEachOtherWithoutARoundBetween) {
  Parties s(5);
  auto message = test::random_bytes(s.net.rng(), 200);
  s.hash(message);
  EXPECT_EQ(s.net.party[0]->lane.rounds(), Sha1::kStartRounds + 4 * Sha1::kBlockRounds);
  EXPECT_EQ(s.net.party[0]->layer_bytes(), Sha1::kStartBytes + 4 * Sha1::kBlockBytes);
}

TEST(Sha1OnShares, CompressionsOfDifferentJobsRunTogether) {
  Parties s(4);
  const auto messages = test::short_messages(s.net.rng());
  const std::vector<Bytes> digests = test::hash_together(s.net, s.sha1, kSha1, messages);
  EXPECT_EQ(s.net.party[0]->lane.rounds(), Sha1::kStartRounds + Sha1::kBlockRounds);
  for (std::size_t k = 0; k < messages.size(); ++k) {
    Bytes expected(20);
    ::SHA1(messages[k].data(), messages[k].size(), expected.data());
    EXPECT_EQ(digests[k], expected);
  }
}

// Chains of different lengths that start in different rounds share one grid: each ends
// where it would alone, in whatever column, and its claims hold.
TEST(Sha1OnShares, ChainsJoinAndLeaveInAnyOrder) {
  for (Security security : {Security::kSemiHonest, Security::kMalicious}) {
    test::PartiesWithCiphers parties(6, rep3_backend_scalar(), security);
    constexpr std::size_t kChains = 24;
    std::vector<SecretVector> messages;
    std::vector<std::array<SharedBytes, 3>> in, out(kChains);
    std::vector<std::size_t> delays;
    for (std::size_t k = 0; k < kChains; ++k) {
      messages.push_back(test::random_bytes(parties.net.rng(), parties.net.rng()() % 200));
      in.push_back(parties.net.share(messages.back()));
      delays.push_back(parties.net.rng()() % 1500);
    }
    parties.run_all(kChains, [&](Rep3Protocol& c, int p, std::size_t k) -> Task<void> {
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
          [&](int p) { return s.sha1[p]->compress(test::initial_of(kSha1, p), shares[p]); });
    }
    const auto shares = s.net.share(data);
    const std::uint64_t before = s.net.party[0]->lane.rounds();
    const std::uint64_t bytes_before = s.net.party[0]->layer_bytes();
    for (std::size_t p = 0; p < 3; ++p) states[0][p].append(states[1][p]);
    const auto mac = s.net.shares_of([&](int p) {
      return s.sha1[p]->hmac(states[0][p], test::padded(kSha1, p, shares[p], kSha1BlockBytes));
    });
    ASSERT_TRUE(mac.ok());
    Bytes expected(20);
    ::HMAC(EVP_sha1(), key.data(), 20, data.data(), bytes, expected.data(), nullptr);
    EXPECT_EQ(ThreeParties::rebuild(*mac), expected) << bytes;
    const std::size_t blocks = (bytes + 9 + 63) / 64 + 1;
    EXPECT_EQ(s.net.party[0]->lane.rounds() - before,
              Sha1::kStartRounds + blocks * Sha1::kBlockRounds);
    EXPECT_EQ(s.net.party[0]->layer_bytes() - bytes_before,
              Sha1::kStartBytes + blocks * Sha1::kBlockBytes);
  }
}

// ---- the shape of the fewest bits

// Messages hashed as bulk work, all handed in in one round. Each is verified.
struct BulkRun {
  BulkRun(std::uint64_t seed, const std::vector<std::size_t>& lengths, Security security,
          std::size_t ripple_from)
      : parties(seed, rep3_backend_scalar(), security), out(lengths.size()) {
    for (std::size_t bytes : lengths) {
      messages.push_back(test::random_bytes(parties.net.rng(), bytes));
      in.push_back(parties.net.share(messages.back()));
    }
    for (auto& ciphers : parties.ciphers) ciphers->sha1.set_ripple_from(ripple_from);
    parties.run_all(lengths.size(), [&](Rep3Protocol& c, int p, std::size_t k) -> Task<void> {
      const auto party = static_cast<std::size_t>(p);
      return hash(c, in[k][party], out[k][party]);
    });
  }
  static Task<void> hash(Rep3Protocol& c, SharedBytes data, SharedBytes& to) {
    to = co_await hash_rest(c, kSha1, c.share_public(kSha1.initial()), std::move(data), 0,
                            Work::kBulk);
    co_await c.rep3.verified();
  }
  void expect_right() const {
    for (std::size_t k = 0; k < out.size(); ++k) {
      Bytes expected(20);
      ::SHA1(messages[k].data(), messages[k].size(), expected.data());
      EXPECT_TRUE(ThreeParties::consistent(out[k]));
      EXPECT_EQ(ThreeParties::rebuild(out[k]), expected) << k << " of " << out.size();
    }
  }
  Sha1& sha1() { return parties.ciphers[0]->sha1; }
  Rep3& party() { return *parties.net.party[0]; }

  test::PartiesWithCiphers parties;
  std::vector<SecretVector> messages;
  std::vector<std::array<SharedBytes, 3>> in, out;
};

// Message octets of a compression of so many columns: a round's bits are filled up to an octet.
std::size_t ripple_octets(std::size_t columns) {
  auto octets = [&](std::size_t bits) { return (bits * columns + 7) / 8; };
  std::size_t sum = octets(32);  // f of step 0
  const std::size_t first_with_k[] = {4, 6, 3, 3};
  auto products = [&](std::size_t t, std::size_t k) {
    return 3 + (k >= first_with_k[t / 20] ? 1u : 0u);
  };
  auto f = [](std::size_t t) { return t < 80 && t / 20 % 2 == 0 ? 1u : 0u; };
  for (std::size_t t = 0; t < 80; ++t)
    for (std::size_t r = 0; r < 27; ++r) {
      std::size_t bits = products(t, r) + f(t + 1);
      if (t > 0 && r < 4) bits += products(t - 1, 27 + r);
      if (t > 0 && r < 5) bits += f(t);
      if (t == 79) bits += 5;
      sum += octets(bits);
    }
  return sum + 4 * octets(4 + 5);
}

TEST(Sha1Ripple, AgreesWithOpensslAtEveryFillingOfAWord) {
  for (std::size_t columns : {1u, 2u, 7u, 8u, 31u, 32u, 33u, 63u, 64u, 65u, 100u, 128u, 200u}) {
    BulkRun run(columns, std::vector<std::size_t>(columns, columns % 56), Security::kSemiHonest, 1);
    run.expect_right();
    EXPECT_EQ(run.sha1().ripple_blocks(), columns);
    EXPECT_EQ(run.party().lane.rounds(), Sha1::kRippleRounds);
    EXPECT_EQ(run.party().layer_bytes(), ripple_octets(columns));
    if (columns % 8 == 0) {
      EXPECT_EQ(run.party().layer_bytes(), columns / 8 * Sha1::kRippleBits);
    }
  }
}

TEST(Sha1Ripple, SendsAtMost11400Bits) {
  EXPECT_LE(Sha1::kRippleBits, 11400u);
  EXPECT_EQ(ripple_octets(8), Sha1::kRippleBits);
  EXPECT_EQ(ripple_octets(1), 2348u);
}

// Messages of several blocks: columns leave where a message ends, and each block is
// verified and counted.
TEST(Sha1Ripple, HashesMessagesOfDifferentLengthsInBothModes) {
  for (Security security : {Security::kSemiHonest, Security::kMalicious}) {
    std::vector<std::size_t> lengths;
    std::size_t blocks = 0;
    for (std::size_t k = 0; k < 70; ++k) lengths.push_back(7 * k % 190);
    for (std::size_t bytes : lengths) blocks += (bytes + 9 + 63) / 64;
    BulkRun run(blocks, lengths, security, 1);
    run.expect_right();
    EXPECT_EQ(run.sha1().ripple_blocks(), blocks);
    EXPECT_EQ(run.sha1().blocks(), blocks);
  }
}

// The choice: by the number of blocks that come in one round, each time anew.
TEST(Sha1Ripple, FewBlocksGoTheShortWay) {
  BulkRun few(1, std::vector<std::size_t>(7, 10), Security::kMalicious, 8);
  few.expect_right();
  EXPECT_EQ(few.sha1().ripple_blocks(), 0u);
  BulkRun enough(1, std::vector<std::size_t>(8, 10), Security::kMalicious, 8);
  enough.expect_right();
  EXPECT_EQ(enough.sha1().ripple_blocks(), 8u);
  std::vector<std::size_t> lengths(8, 10);
  lengths[3] = 60;  // its second block is alone
  BulkRun rest(1, lengths, Security::kMalicious, 8);
  rest.expect_right();
  EXPECT_EQ(rest.sha1().ripple_blocks(), 8u);
  EXPECT_EQ(rest.sha1().blocks(), 9u);
}

// By default from so many on as pay for the rounds, more where nothing is verified.
TEST(Sha1Ripple, EnoughBlocksAreFewerWhereTheyAreVerified) {
  test::PartiesWithCiphers malicious(1, rep3_backend_scalar(), Security::kMalicious), plain(1);
  EXPECT_EQ(malicious.ciphers[0]->sha1.default_ripple_from(), 512u);
  EXPECT_EQ(plain.ciphers[0]->sha1.default_ripple_from(), 2048u);
  for (std::size_t blocks : {511u, 512u}) {
    const auto data = malicious.net.share(test::random_bytes(malicious.net.rng(), 20));
    const std::uint64_t before = malicious.ciphers[0]->sha1.ripple_blocks();
    std::vector<std::array<SharedBytes, 3>> out(blocks);
    malicious.run_all(blocks, [&](Rep3Protocol& c, int p, std::size_t k) {
      const auto party = static_cast<std::size_t>(p);
      return BulkRun::hash(c, data[party], out[k][party]);
    });
    EXPECT_EQ(malicious.ciphers[0]->sha1.ripple_blocks() - before, blocks < 512 ? 0 : 512);
  }
}

// Products that a batch holds of a compression: what a loaded server pays for.
std::size_t products_claimed(Work work) {
  constexpr std::size_t kColumns = 512;
  ThreeParties net(Representation::kBytes, 5, Security::kMalicious);
  std::unique_ptr<Sha1> sha1[3];
  for (int p = 0; p < 3; ++p) {
    sha1[p] = std::make_unique<Sha1>(*net.party[p]);
    sha1[p]->set_ripple_from(1);
  }
  const auto block = net.share(test::random_bytes(net.rng(), kSha1BlockBytes));
  std::vector<SharedBytes> out(3 * kColumns);
  auto ran = net.run([&](int p) {
    std::vector<Task<void>> jobs;
    for (std::size_t k = 0; k < kColumns; ++k)
      jobs.push_back(store(sha1[p]->compress(test::initial_of(kSha1, p), block[p], work),
                           out[kColumns * static_cast<std::size_t>(p) + k]));
    return all(net.party[p]->lane, std::move(jobs));
  });
  EXPECT_TRUE(ran.ok());
  ClaimBatch batch;
  net.party[0]->claims()->take(batch);
  std::size_t products = 0;
  for (const auto& record : batch.octets)
    products += record->blocks() * ClaimRows::kLanes * ClaimRows::kBitSlots * 8 *
                record->shape().factors.size();
  return products / kColumns;
}

TEST(Sha1Ripple, ClaimsOneProductForEachBit) {
  // Blocks of 8,192 products are filled up.
  const std::size_t bits = products_claimed(Work::kBulk);
  EXPECT_GE(bits, Sha1::kRippleBits);
  EXPECT_LT(bits, Sha1::kRippleBits + 8192 / 512);
  const std::size_t words = products_claimed(Work::kWaitedFor);
  EXPECT_GT(words, 2 * bits);
  RecordProperty("products_of_words", static_cast<int>(words));
}

// What somebody waits for never takes it, however much there is.
TEST(Sha1Ripple, WhatIsWaitedForGoesTheShortWay) {
  test::PartiesWithCiphers s(3, rep3_backend_scalar(), Security::kSemiHonest);
  for (auto& ciphers : s.ciphers) ciphers->sha1.set_ripple_from(1);
  const auto data = s.net.share(test::random_bytes(s.net.rng(), 20));
  std::array<SharedBytes, 3> out[16];
  s.run_all(16, [&](Rep3Protocol& c, int p, std::size_t k) {
    const auto party = static_cast<std::size_t>(p);
    return hash_later(c, 0, data[party], out[k][party]);
  });
  EXPECT_EQ(s.ciphers[0]->sha1.ripple_blocks(), 0u);
  EXPECT_EQ(s.net.party[0]->lane.rounds(), Sha1::kStartRounds + Sha1::kBlockRounds);
}

TEST(Sha1Ripple, HmacAgreesWithOpenssl) {
  test::PartiesWithCiphers s(8, rep3_backend_scalar(), Security::kMalicious);
  for (auto& ciphers : s.ciphers) ciphers->sha1.set_ripple_from(2);
  const auto key = test::random_bytes(s.net.rng(), 32), data = test::random_bytes(s.net.rng(), 70);
  const auto key_shares = s.net.share(key), shares = s.net.share(data);
  const auto mac = s.shares_of([&](Rep3Protocol& c, int p) -> Task<SharedBytes> {
    const auto party = static_cast<std::size_t>(p);
    return bulk_hmac(c, key_shares[party], shares[party]);
  });
  Bytes expected(20);
  ::HMAC(EVP_sha1(), key.data(), 32, data.data(), data.size(), expected.data(), nullptr);
  EXPECT_EQ(ThreeParties::rebuild(mac), expected);
  EXPECT_EQ(s.ciphers[0]->sha1.ripple_blocks(), 2u);  // the pads; then it is alone
  EXPECT_EQ(s.ciphers[0]->sha1.blocks(), 5u);
}

}  // namespace
}  // namespace tkdc
