// SPDX-License-Identifier: Apache-2.0
// AES by one-hot vectors on shares: against FIPS 197 and OpenSSL, its rounds and
// octets, and what the pool of masks promises.
#include <openssl/evp.h>

#include <set>

#include "rep3/unit/aes/one_hot.h"
#include "rep3/verify/extension.h"
#include "support/openssl_ecb.h"
#include "support/parties_with_ciphers.h"
#include "support/rep3_backends.h"

namespace tkdc {
namespace {

using test::openssl_ecb;
using test::PartiesWithCiphers;
using test::ThreeParties;
using Count = MaskPool::Count;

constexpr Count kRoom = {4096, 256};

// Parties whose small cohorts use masks.
struct Masked : PartiesWithCiphers {
  explicit Masked(std::uint64_t seed, Security security = Security::kSemiHonest,
                  const Rep3Backend& backend = rep3_backend_scalar(), Count room = kRoom,
                  std::size_t most_blocks = 16)
      : PartiesWithCiphers(seed, backend, security) {
    for (std::size_t p = 0; p < 3; ++p) {
      pool[p] = std::make_unique<MaskPool>(*net.party[p], room);
      ciphers[p]->aes.use_masks(*pool[p], most_blocks);
    }
  }
  void fill(Count wanted) {
    auto ran = net.run([&](int p) { return pool[p]->fill(wanted); });
    ASSERT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().message);
  }
  void fill_for(std::size_t blocks, int rounds) { fill(MaskPool::needed(blocks, rounds)); }
  Bytes crypt(const Shares& keys, ByteSpan in, bool encrypt) {
    Shares shares = net.share(in);
    return value_of(
        [&](Rep3Protocol& c, int p) { return verified(c, keys[p], shares[p], encrypt); });
  }
  static Task<SharedBytes> verified(Rep3Protocol& c, const SharedBytes& keys, SharedBytes in,
                                    bool encrypt) {
    if (encrypt)
      in = co_await c.aes.encrypt(keys, std::move(in));
    else
      in = co_await c.aes.decrypt(keys, std::move(in));
    co_await c.rep3.verified();
    co_return in;
  }
  std::uint64_t rounds() const { return net.party[0]->lane.rounds(); }
  // As a lane does when it has admitted one.
  void note_job() {
    for (auto& lane : net.lane) lane->course().note(Course::Kind::kSaid, {Bytes(1, 1)});
  }

  std::unique_ptr<MaskPool> pool[3];
};

// ---- local work

TEST(OneHot, VectorsOfNibblesAndOctetsHaveOneOne) {
  auto monomials_of = [](unsigned nibble) {
    unsigned all = 0;
    for (unsigned m = 0; m < 16; ++m) all |= unsigned{(nibble & m) == m} << m;
    return all;
  };
  for (unsigned r = 0; r < 16; ++r)
    EXPECT_EQ(one_hot::vector_of_nibble(static_cast<std::uint16_t>(monomials_of(r))), 1u << r);
  for (unsigned r = 0; r < 256; ++r) {
    std::uint64_t vector[4] = {}, expected[4] = {};
    for (unsigned h = 0; h < 16; ++h)
      if (monomials_of(r >> 4) >> h & 1)
        vector[h / 4] |= std::uint64_t{monomials_of(r & 15)} << 16 * (h % 4);
    one_hot::vector_of_octet(vector);
    expected[r / 64] = std::uint64_t{1} << r % 64;
    EXPECT_TRUE(std::ranges::equal(vector, expected)) << r;
  }
}

TEST(OneHot, ThreePartiesTermsAddUpToTheInverse) {
  std::mt19937_64 rng(1);
  for (unsigned r = 0; r < 256; ++r)
    for (unsigned t = 0; t < 256; ++t) {
      std::uint16_t low[3], high[3];
      for (int p = 0; p < 2; ++p) {
        low[p] = static_cast<std::uint16_t>(rng());
        high[p] = static_cast<std::uint16_t>(rng());
      }
      low[2] = static_cast<std::uint16_t>(low[0] ^ low[1] ^ 1u << (r & 15));
      high[2] = static_cast<std::uint16_t>(high[0] ^ high[1] ^ 1u << (r >> 4));
      const auto at = static_cast<std::uint8_t>(t);
      unsigned sum = 0;
      for (int p = 0; p < 3; ++p) {
        const int q = (p + 1) % 3;
        sum ^= one_hot::inverse_terms({{low[p], low[q]}, {high[p], high[q]}}, at);
      }
      const unsigned expected = gf256_inverse(static_cast<std::uint8_t>(r ^ t));
      ASSERT_EQ(sum, expected) << r << " " << t;
      std::uint64_t whole[4] = {};
      whole[r / 64] = std::uint64_t{1} << r % 64;
      ASSERT_EQ(one_hot::inverse_component(whole, at), expected) << r << " " << t;
    }
}

TEST(OneHot, TheTwoRelationsHoldForTheInverseAlone) {
  for (unsigned a = 0; a < 256; ++a)
    for (unsigned s = 0; s < 256; ++s) {
      const auto x = static_cast<std::uint8_t>(a), y = static_cast<std::uint8_t>(s);
      const bool both = gf256_multiply(gf256_multiply(x, x), y) == x &&
                        gf256_multiply(gf256_multiply(y, y), x) == y;
      EXPECT_EQ(both, y == gf256_inverse(x)) << a << " " << s;
    }
}

// ---- the protocol

struct Mode {
  Security security;
  const Rep3Backend* backend;
};
std::vector<Mode> modes() {
  std::vector<Mode> all;
  for (const Rep3Backend* backend : test::rep3_backends()) {
    all.push_back({Security::kSemiHonest, backend});
    if (backend->representation() == Representation::kBytes)
      all.push_back({Security::kMalicious, backend});
  }
  return all;
}

class MaskedAes : public testing::TestWithParam<Mode> {
 protected:
  bool malicious() const { return GetParam().security == Security::kMalicious; }
  Masked parties(std::uint64_t seed) const {
    return Masked(seed, GetParam().security, *GetParam().backend);
  }
};

TEST_P(MaskedAes, Fips197AppendixC) {
  Masked s = parties(1);
  Bytes plain, key;
  for (int k = 0; k < 16; ++k) plain.push_back(static_cast<std::uint8_t>(k * 0x11));
  for (int k = 0; k < 32; ++k) key.push_back(static_cast<std::uint8_t>(k));
  const Bytes expected128 = test::from_hex("69c4e0d86a7b0430d8cdb78070b4c55a");
  const Bytes expected256 = test::from_hex("8ea2b7ca516745bfeafc49904b496089");
  auto keys128 = s.expand(ByteSpan(key).first(16));
  auto keys256 = s.expand(key);
  s.fill_for(2, 10);
  s.fill_for(2, 14);
  EXPECT_EQ(s.crypt(keys128, plain, true), expected128);
  EXPECT_EQ(s.crypt(keys256, plain, true), expected256);
  EXPECT_EQ(s.crypt(keys128, expected128, false), plain);
  EXPECT_EQ(s.crypt(keys256, expected256, false), plain);
  EXPECT_EQ(s.ciphers[0]->aes.masked_blocks(), 4u);
  EXPECT_EQ(s.pool[0]->held(), Count{});
}

TEST_P(MaskedAes, AgreesWithOpensslOnRandomInputs) {
  Masked s = parties(2);
  for (std::size_t key_bytes : {16u, 32u})
    for (std::size_t blocks : {1u, 2u, 7u, 16u}) {
      auto key = test::random_bytes(s.net.rng(), key_bytes);
      auto in = test::random_bytes(s.net.rng(), 16 * blocks);
      auto keys = s.expand(key);
      s.fill_for(2 * blocks, aes_rounds(key_bytes));
      EXPECT_EQ(s.crypt(keys, in, true), openssl_ecb(key, in, true)) << blocks;
      EXPECT_EQ(s.crypt(keys, in, false), openssl_ecb(key, in, false)) << blocks;
      EXPECT_EQ(s.pool[0]->held(), Count{});
    }
}

TEST_P(MaskedAes, RequestsOfDifferentKeysRunTogether) {
  Masked s = parties(3);
  constexpr std::size_t kJobs = 4;
  std::vector<SecretVector> keys, inputs;
  std::vector<PartiesWithCiphers::Shares> round_keys, in, out(kJobs);
  for (std::size_t k = 0; k < kJobs; ++k) {
    keys.push_back(test::random_bytes(s.net.rng(), 16));
    inputs.push_back(test::random_bytes(s.net.rng(), 16 * (k + 1)));
    round_keys.push_back(s.expand(keys.back()));
    in.push_back(s.net.share(inputs.back()));
  }
  s.fill_for(10, 10);
  s.run_all(kJobs, [&](Rep3Protocol& c, int p, std::size_t k) {
    const auto party = static_cast<std::size_t>(p);
    return store(Masked::verified(c, round_keys[k][party], in[k][party], true), out[k][party]);
  });
  for (std::size_t k = 0; k < kJobs; ++k)
    EXPECT_EQ(ThreeParties::rebuild(out[k]), openssl_ecb(keys[k], inputs[k], true)) << k;
  EXPECT_EQ(s.ciphers[1]->aes.masked_blocks(), 10u);
}

// One block: rounds, and what a party sends to each other party in them.
TEST_P(MaskedAes, CountsRoundsAndOctets) {
  for (std::size_t key_bytes : {16u, 32u}) {
    const auto rounds = static_cast<std::size_t>(aes_rounds(key_bytes));
    Masked s = parties(4);
    auto keys = s.expand(test::random_bytes(s.net.rng(), key_bytes));
    std::size_t to_prev = 0, to_next = 0;
    s.net.record = [&](int p, const SecretVector& prev, const SecretVector& next) {
      to_prev += p == 1 ? prev.size() : 0;
      to_next += p == 1 ? next.size() : 0;
    };
    // 22 bits for each S-box and 225 more for those of the last layer, in 3 rounds.
    std::uint64_t before = s.net.party[1]->layer_bytes(), from = s.rounds();
    auto in = s.net.share(test::random_bytes(s.net.rng(), 16));
    if (!malicious()) {
      s.fill_for(1, aes_rounds(key_bytes));
      EXPECT_EQ(s.rounds() - from, 3u);
      EXPECT_EQ(s.net.party[1]->layer_bytes() - before, (rounds * 22 + 225) * 16 / 8);
    } else {
      s.fill_for(1, aes_rounds(key_bytes));
    }
    s.note_job();
    to_prev = to_next = 0;
    before = s.net.party[1]->layer_bytes(), from = s.rounds();
    auto ran = s.net.shares_of([&](int p) { return s.ciphers[p]->aes.encrypt(keys[p], in[p]); });
    ASSERT_TRUE(ran.ok());
    const std::size_t digests = malicious() ? 2 * 32 : 0;
    EXPECT_EQ(s.rounds() - from, rounds + (malicious() ? 2 : 0));
    EXPECT_EQ(s.net.party[1]->layer_bytes(), before);  // no layer
    // An opening goes one way, its digest the other; sums go both ways.
    EXPECT_EQ(to_prev, 32 + 16 * (rounds - 1) + digests);
    EXPECT_EQ(to_next, 16 * rounds + digests);
  }
}

// The course is compared once, not before each block of a chain.
TEST_P(MaskedAes, AChainTakesOneRoundForEachAesRound) {
  Masked s = parties(5);
  auto key = test::random_bytes(s.net.rng(), 16);
  auto in = test::random_bytes(s.net.rng(), 16);
  auto keys = s.expand(key);
  constexpr std::size_t kBlocks = 5;
  s.fill_for(kBlocks, 10);
  auto shares = s.net.share(in);
  auto chain = [&](std::size_t p) -> Task<SharedBytes> {
    SharedBytes x = shares[p];
    for (std::size_t k = 0; k < kBlocks; ++k)
      x = co_await s.ciphers[p]->aes.encrypt(keys[p], std::move(x));
    co_return x;
  };
  s.note_job();
  const std::uint64_t from = s.rounds();
  auto out = s.net.shares_of([&](int p) { return chain(static_cast<std::size_t>(p)); });
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(s.rounds() - from, malicious() ? 11 * kBlocks + 1 : 10 * kBlocks);
  Bytes expected(in.begin(), in.end());
  for (std::size_t k = 0; k < kBlocks; ++k) expected = openssl_ecb(key, expected, true);
  EXPECT_EQ(ThreeParties::rebuild(*out), expected);
}

INSTANTIATE_TEST_SUITE_P(Modes, MaskedAes, testing::ValuesIn(modes()), [](const auto& mode) {
  return mode.param.backend->name() +
         (mode.param.backend->representation() == Representation::kBytes ? "Bytes" : "Planes") +
         (mode.param.security == Security::kMalicious ? "Malicious" : "SemiHonest");
});

// ---- the pool

TEST(MaskPool, ItsMasksAreSharedRightAndAllDifferent) {
  for (Security security : {Security::kSemiHonest, Security::kMalicious}) {
    Masked s(6, security);
    s.fill({3, 2});
    s.fill({15, 0});
    ASSERT_EQ(s.pool[0]->held(), (Count{18, 2}));
    EXPECT_EQ(s.pool[0]->made(), 20u);
    std::vector<LayerMask> taken[3];
    for (int p = 0; p < 3; ++p) taken[p] = s.pool[p]->take(2, 10);
    EXPECT_EQ(s.pool[0]->held(), Count{});
    ASSERT_EQ(taken[0].size(), 10u);
    std::set<Bytes> seen;
    for (std::size_t layer = 0; layer < 10; ++layer) {
      std::array<SharedBytes, 3> r, vectors;
      for (std::size_t p = 0; p < 3; ++p) {
        r[p] = taken[p][layer].r;
        vectors[p] = taken[p][layer].vectors;
      }
      EXPECT_TRUE(ThreeParties::consistent(r) && ThreeParties::consistent(vectors));
      const Bytes value = ThreeParties::rebuild(r), vector = ThreeParties::rebuild(vectors);
      ASSERT_EQ(value.size(), 32u);
      for (std::size_t block = 0; block < 2; ++block)
        EXPECT_TRUE(seen.emplace(value.begin() + static_cast<std::ptrdiff_t>(16 * block),
                                 value.begin() + static_cast<std::ptrdiff_t>(16 * block + 16))
                        .second);
      const bool whole = layer == 9;
      const std::size_t each = whole ? LayerMask::kWholeBytes : LayerMask::kHalvesBytes;
      ASSERT_EQ(vector.size(), 32 * each);
      for (std::size_t k = 0; k < 32; ++k) {
        Bytes expected(each);
        if (whole) {
          expected[value[k] / 8] = static_cast<std::uint8_t>(1u << value[k] % 8);
        } else {
          expected[(value[k] & 15) / 8] = static_cast<std::uint8_t>(1u << (value[k] & 7));
          expected[2 + (value[k] >> 4) / 8] = static_cast<std::uint8_t>(1u << (value[k] >> 4 & 7));
        }
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                               vector.begin() + static_cast<std::ptrdiff_t>(k * each)))
            << layer << " " << k;
      }
    }
  }
}

TEST(MaskPool, IsBounded) {
  Masked s(7, Security::kSemiHonest, rep3_backend_scalar(), {20, 3});
  s.fill({15, 5});
  EXPECT_EQ(s.pool[0]->held(), (Count{15, 3}));
  s.fill({100, 100});
  EXPECT_EQ(s.pool[0]->held(), (Count{20, 3}));
  s.fill({100, 100});
  EXPECT_EQ(s.pool[0]->made(), 23u);
  // Two at once do not overfill it either.
  Masked two(8, Security::kMalicious, rep3_backend_scalar(), {20, 3});
  auto ran = two.net.run([&](int p) {
    std::vector<Task<void>> tasks;
    for (int k = 0; k < 2; ++k) tasks.push_back(two.pool[p]->fill({15, 2}));
    return all(two.net.party[p]->lane, std::move(tasks));
  });
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(two.pool[0]->held(), (Count{20, 3}));
  EXPECT_EQ(two.pool[0]->coming(), Count{});
}

TEST(MaskPool, AnEmptyOneFallsBackToLayersAtAllThree) {
  Masked s(9, Security::kMalicious);
  auto key = test::random_bytes(s.net.rng(), 16);
  auto in = test::random_bytes(s.net.rng(), 32);
  auto keys = s.expand(key);
  const Bytes expected = openssl_ecb(key, in, true);
  s.fill_for(3, 10);  // two blocks' once, not twice
  EXPECT_EQ(s.crypt(keys, in, true), expected);
  EXPECT_EQ(s.pool[0]->held(), MaskPool::needed(1, 10));
  EXPECT_EQ(s.crypt(keys, in, true), expected);
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(s.pool[p]->held(), MaskPool::needed(1, 10));
    EXPECT_EQ(s.ciphers[p]->aes.masked_blocks(), 2u);
    EXPECT_EQ(s.ciphers[p]->aes.blocks(), 4u);
  }
}

TEST(MaskPool, LargeCohortsLeaveItAlone) {
  Masked s(10);
  auto key = test::random_bytes(s.net.rng(), 32);
  auto in = test::random_bytes(s.net.rng(), 16 * 17);
  auto keys = s.expand(key);
  s.fill_for(17, 14);
  EXPECT_EQ(s.crypt(keys, in, true), openssl_ecb(key, in, true));
  EXPECT_EQ(s.pool[0]->held(), MaskPool::needed(17, 14));
}

// What was taken for a cohort that came to nothing is gone.
TEST(MaskPool, AnAbortedCohortsMasksAreLost) {
  Masked s(11, Security::kMalicious);
  auto keys = s.expand(test::random_bytes(s.net.rng(), 16));
  s.fill_for(2, 10);
  auto in = s.net.share(test::random_bytes(s.net.rng(), 16));
  std::size_t packets = 0;
  s.net.tamper = [&](int, SecretVector&, SecretVector& to_next) {
    if (++packets == 4) to_next[0] ^= 1;  // party 0's first t
  };
  auto ran = s.net.shares_of([&](int p) { return s.ciphers[p]->aes.encrypt(keys[p], in[p]); });
  EXPECT_FALSE(ran.ok());
  for (int p = 0; p < 3; ++p) EXPECT_EQ(s.pool[p]->held(), MaskPool::needed(1, 10));
}

// The same masks and input twice would show here; each run has its own.
TEST(MaskPool, EqualInputsAreMaskedDifferently) {
  Masked s(12);
  auto keys = s.expand(test::random_bytes(s.net.rng(), 16));
  s.fill_for(8, 10);
  auto in = s.net.share(test::random_bytes(s.net.rng(), 16));
  std::set<Bytes> sent;
  s.net.record = [&](int p, const SecretVector&, const SecretVector& next) {
    if (p != 0) return;
    EXPECT_TRUE(sent.emplace(next.begin(), next.end()).second);
  };
  for (int k = 0; k < 8; ++k)
    ASSERT_TRUE(
        s.net.shares_of([&](int p) { return s.ciphers[p]->aes.encrypt(keys[p], in[p]); }).ok());
  EXPECT_EQ(sent.size(), 80u);
}

}  // namespace
}  // namespace tkdc
