// SPDX-License-Identifier: Apache-2.0
// Rings behind the programming interface against the same arithmetic in the clear.
#include "api/ring.h"

#include <cstring>

#include "trio.h"

namespace tkdc::mpc {
namespace {

constexpr Ring kRings[] = {Ring::kBits,  Ring::kGf256, Ring::kGf128, Ring::kZ2_8,
                           Ring::kZ2_16, Ring::kZ2_32, Ring::kZ2_64, Ring::kF61};
constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

Bytes some_elements(Ring ring, std::uint64_t seed, std::size_t count) {
  Bytes out = some_octets(seed, count * element_bytes(ring));
  ring_reduce(ring, out.data(), out.size());
  return out;
}

Bytes sum_in_clear(Ring ring, const Bytes& x, const Bytes& y, std::size_t outputs,
                   const std::vector<Term>& terms) {
  const std::size_t each = element_bytes(ring);
  Bytes out(each * outputs);
  for (const Term& t : terms)
    ring_multiply_add(ring, out.data() + each * t.out, x.data() + each * t.left,
                      y.data() + each * t.right);
  return out;
}

std::vector<Term> some_terms(std::size_t outputs, std::size_t size, std::size_t count) {
  std::mt19937_64 rng(count);
  std::vector<Term> terms(count);
  for (Term& t : terms)
    t = {static_cast<std::uint32_t>(rng() % outputs), static_cast<std::uint32_t>(rng() % size),
         static_cast<std::uint32_t>(rng() % size)};
  return terms;
}

TEST(Ring, KnownProducts) {
  auto product = [](Ring ring, const Bytes& a, const Bytes& b) {
    Bytes out(a.size());
    ring_multiply_add(ring, out.data(), a.data(), b.data());
    return out;
  };
  EXPECT_EQ(product(Ring::kGf256, {0x57}, {0x83}), Bytes{0xc1});  // FIPS 197, section 4.2
  EXPECT_EQ(product(Ring::kBits, {0x57}, {0x83}), Bytes{0x03});
  EXPECT_EQ(product(Ring::kZ2_8, {200}, {3}), Bytes{88});
  const Bytes minus_one = encode(Ring::kF61, {kPrime - 1});
  EXPECT_EQ(decode(Ring::kF61, product(Ring::kF61, minus_one, minus_one))[0], 1u);
  EXPECT_EQ(decode(Ring::kF61, encode(Ring::kF61, {kPrime}))[0], 0u);
  EXPECT_EQ(decode(Ring::kF61, encode(Ring::kF61, {~std::uint64_t{0}}))[0], 7u);
}

TEST(Ring, SumsAndDifferencesAgreeWithWideIntegers) {
  std::mt19937_64 rng(3);
  for (int k = 0; k < 1000; ++k) {
    const std::uint64_t a = rng() % kPrime, b = k == 0 ? 0 : rng() % kPrime;
    Bytes x = encode(Ring::kF61, {a}), y = encode(Ring::kF61, {b}), z = x, w(8);
    ring_add(Ring::kF61, x.data(), y.data(), 8);
    ring_subtract(Ring::kF61, z.data(), y.data(), 8);
    ring_multiply_add(Ring::kF61, w.data(), encode(Ring::kF61, {a}).data(), y.data());
    EXPECT_EQ(decode(Ring::kF61, x)[0], (a + b) % kPrime);
    EXPECT_EQ(decode(Ring::kF61, z)[0], (a + kPrime - b) % kPrime);
    EXPECT_EQ(decode(Ring::kF61, w)[0],
              static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b % kPrime));
  }
}

class Rings : public testing::TestWithParam<Ring> {};

TEST_P(Rings, InputsAreOpenedAsTheyWereWhoeverOwnsThem) {
  const Ring ring = GetParam();
  for (Security security : {Security::kSemiHonest, Security::kMalicious})
    as_three(security, [&](Party& party) {
      for (int owner = 0; owner < 3; ++owner) {
        const Bytes value = some_elements(ring, 5, 9);
        Shares x = need(party.share(owner, ring, 9, party.index() == owner ? value : Bytes()));
        EXPECT_EQ(need(party.open(x)), value);
        Shares twice = need(add(x, x));
        EXPECT_EQ(need(party.open(need(subtract(twice, x)))), value);
        Shares open = need(party.constant(ring, value));
        EXPECT_EQ(need(party.open(need(subtract(x, open)))), Bytes(value.size()));
      }
      EXPECT_NE(need(party.open(need(party.random(ring, 8)))), Bytes(8 * element_bytes(ring)));
    });
}

TEST_P(Rings, QuadraticLayersAgreeWithThePlaintext) {
  const Ring ring = GetParam();
  for (Security security : {Security::kSemiHonest, Security::kMalicious}) {
    if (security == Security::kMalicious && !is_binary(ring)) continue;
    as_three(security, [&](Party& party) {
      for (std::size_t terms : {0u, 1u, 20u, 400u}) {
        const Bytes x = some_elements(ring, terms, 30), y = some_elements(ring, terms + 1, 30);
        const std::vector<Term> sum = some_terms(7, 30, terms);
        Shares xs = need(party.share(0, ring, 30, x)), ys = need(party.share(1, ring, 30, y));
        Shares z = need(party.quadratic(xs, ys, 7, sum));
        EXPECT_EQ(need(party.open(z)), sum_in_clear(ring, x, y, 7, sum)) << terms;
        const std::uint64_t rounds = party.rounds();
        Shares product = need(party.multiply(xs, ys));
        EXPECT_EQ(party.rounds(), rounds + 1);
        EXPECT_EQ(need(party.open(need(party.dot(product, ys)))).size(), element_bytes(ring));
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, Rings, testing::ValuesIn(kRings), [](const auto& one) {
  return "Ring" + std::to_string(static_cast<int>(one.param));
});

TEST(Dot, OfIntegers) {
  as_three(Security::kSemiHonest, [](Party& party) {
    Shares x = need(party.share(0, Ring::kZ2_64, 3, encode(Ring::kZ2_64, {1, 2, 3})));
    Shares y = need(party.share(2, Ring::kZ2_64, 3, encode(Ring::kZ2_64, {10, 20, 30})));
    const Bytes opened = need(party.open(need(party.dot(x, y))));
    EXPECT_EQ(decode(Ring::kZ2_64, opened), std::vector<std::uint64_t>{140});
  });
}

TEST(Less, OfWordsOfBitsInBothModes) {
  for (Security security : {Security::kSemiHonest, Security::kMalicious})
    for (std::size_t word : {1u, 2u, 4u, 8u})
      as_three(security, [word](Party& party) {
        constexpr std::size_t kCount = 40;
        Bytes a = some_octets(word, kCount * word), b = some_octets(word + 9, kCount * word);
        std::copy_n(a.begin(), 4 * word, b.begin());           // equal ones
        for (std::size_t k = 0; k < 2; ++k) b[k * word] ^= 1;  // that differ in the last bit
        Shares as = need(party.share(0, Ring::kBits, a.size(), a));
        Shares bs = need(party.share(1, Ring::kBits, b.size(), b));
        const Bytes less = need(party.open(need(party.less_than(as, bs, word))));
        ASSERT_EQ(less.size(), kCount);
        for (std::size_t k = 0; k < kCount; ++k) {
          std::uint64_t x = 0, y = 0;
          std::memcpy(&x, a.data() + k * word, word);
          std::memcpy(&y, b.data() + k * word, word);
          EXPECT_EQ(less[k], x < y ? 1 : 0) << x << " " << y;
        }
      });
}

TEST(Less, OfIntegersAndTheirBits) {
  for (Ring ring : {Ring::kZ2_8, Ring::kZ2_16, Ring::kZ2_32, Ring::kZ2_64})
    as_three(Security::kSemiHonest, [ring](Party& party) {
      const std::vector<std::uint64_t> a = {0, 1, 5, 100, 7, 90}, b = {0, 2, 4, 101, 7, 3};
      Shares as = need(party.share(0, ring, a.size(), encode(ring, a)));
      Shares bs = need(party.share(1, ring, b.size(), encode(ring, b)));
      EXPECT_EQ(need(party.open(need(party.less_than(as, bs)))), (Bytes{0, 1, 0, 1, 0, 0}));
      const Bytes value = some_elements(ring, 4, 50);
      Shares x = need(party.share(2, ring, 50, value));
      EXPECT_EQ(need(party.open(need(party.to_bits(x)))), value);
    });
}

TEST(Refusals, OfRingsThatCannotBeVerified) {
  as_three(Security::kMalicious, [](Party& party) {
    for (Ring ring : {Ring::kZ2_32, Ring::kF61}) {
      Shares x = need(party.constant(ring, encode(ring, {4})));
      auto refused = party.multiply(x, x);
      ASSERT_FALSE(refused.ok());
      EXPECT_NE(refused.error().message.find(ring_name(ring)), std::string::npos);
      EXPECT_NE(refused.error().message.find("characteristic 2"), std::string::npos);
      EXPECT_FALSE(party.dot(x, x).ok());
    }
    Shares words = need(party.constant(Ring::kZ2_32, encode(Ring::kZ2_32, {1, 2})));
    EXPECT_TRUE(party.to_bits(words).ok());  // components' bits are shared and added in GF(2)
    // A refusal ends nothing.
    EXPECT_EQ(need(party.open(words)), encode(Ring::kZ2_32, {1, 2}));
  });
}

TEST(Refusals, OfWrongArguments) {
  as_three(Security::kSemiHonest, [](Party& party) {
    Shares a = need(party.constant(Ring::kBits, Bytes(4)));
    Shares b = need(party.constant(Ring::kGf256, Bytes(4)));
    EXPECT_FALSE(add(a, b).ok());
    EXPECT_FALSE(append(a, b).ok());
    EXPECT_TRUE(append(a, need(as_ring(b, Ring::kBits))).ok());
    EXPECT_FALSE(as_ring(a, Ring::kGf128).ok());
    EXPECT_FALSE(as_ring(a, Ring::kZ2_32).ok());
    EXPECT_FALSE(slice(a, 3, 2).ok());
    EXPECT_FALSE(slice(a, ~std::size_t{0}, 1).ok());
    EXPECT_FALSE(party.multiply(a, b).ok());
    EXPECT_FALSE(party.multiply(a, need(slice(a, 0, 1))).ok());
    EXPECT_FALSE(party.quadratic(a, a, 1, {{1, 0, 0}}).ok());
    EXPECT_FALSE(party.quadratic(a, a, 1, {{0, 4, 0}}).ok());
    EXPECT_FALSE(party.quadratic(a, a, 1, {{0, 0, 4}}).ok());
    EXPECT_FALSE(party.share(3, Ring::kBits, 1, Bytes(1)).ok());
    EXPECT_FALSE(party.share(party.index(), Ring::kBits, 2, Bytes(1)).ok());
    EXPECT_FALSE(party.share(party.index(), Ring::kF61, 1, Bytes(8, 0xff)).ok());
    EXPECT_FALSE(party.share(0, Ring::kBits, std::size_t{1} << 40, Bytes()).ok());
    EXPECT_FALSE(party.constant(static_cast<Ring>(99), Bytes(4)).ok());
    EXPECT_FALSE(party.less_than(a, a, 3).ok());
    EXPECT_FALSE(party.to_bits(a).ok());
    EXPECT_FALSE(party.aes_key(a).ok());
    EXPECT_FALSE(party.aes_encrypt(a, need(party.constant(Ring::kBits, Bytes(16)))).ok());
    EXPECT_FALSE(party.hmac_sha1(need(party.constant(Ring::kBits, Bytes(65))), a).ok());
    EXPECT_EQ(need(party.open(a)), Bytes(4));
  });
}

}  // namespace
}  // namespace tkdc::mpc
