// SPDX-License-Identifier: Apache-2.0
// Several parties: what their shares sum to, and AES by what they have made.
#include "lut/multi_dealer.h"

#include "base/hex.h"
#include "lut/aes.h"
#include "lut/aes_powers.h"
#include "lut/multi_parties.h"
#include "lut/norm_tables.h"
#include "lut/string_product.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

void expect_bits(const Each<Labels>& each, std::size_t count) {
  std::size_t ones = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const Label sum = each.sum(k);
    EXPECT_TRUE(sum == Label{} || sum == each.delta()) << k;
    ones += sum.low & 1;
  }
  EXPECT_GT(ones, count / 4);
  EXPECT_LT(ones, count - count / 4);
}

TEST(LutMulti, LabelsOfAllSumToABitTimesDelta) {
  for (const std::size_t parties : {2, 3, 4}) {
    Each<Labels> bits;
    const ManyOutcome outcome = with_multi_dealers(parties, [&](Dealer& dealer, std::size_t own) {
      bits.part[own] = dealer.part();
      bits.of[own].resize(3 * kFewBits / 2);  // of two batches
      return dealer.draw(std::span(bits.of[own]));
    });
    ASSERT_TRUE(outcome.ok()) << outcome.first();
    EXPECT_EQ(bits.delta().low & 1, 1u);
    expect_bits(bits, bits.of[0].size());
  }
}

TEST(LutMulti, ProductsOfOperandsAreRight) {
  constexpr Shape kShape = {3, 5};
  constexpr std::size_t kCount = 9;
  for (const std::size_t parties : {2, 3, 4}) {
    Each<Labels> q, p, products;
    const ManyOutcome outcome =
        with_multi_dealers(parties, [&](Dealer& dealer, std::size_t own) -> Result<void> {
          q.part[own] = p.part[own] = products.part[own] = dealer.part();
          q.of[own].resize(kCount * kShape.bits);
          p.of[own].resize(kCount * kShape.length);
          for (Labels* bits : {&q.of[own], &p.of[own]})
            if (auto drawn = dealer.draw(std::span(*bits)); !drawn) return drawn;
          auto made = multiply(dealer, kShape, q.of[own], p.of[own]);
          if (!made) return made.error();
          products.of[own] = std::move(*made);
          return dealer.check();
        });
    ASSERT_TRUE(outcome.ok()) << outcome.first();
    for (std::size_t k = 0; k < kCount; ++k)
      for (std::size_t i = 0; i < kShape.bits; ++i)
        for (std::size_t j = 0; j < kShape.length; ++j) {
          const std::uint64_t bit =
              q.sum(k * kShape.bits + i).low & p.sum(k * kShape.length + j).low & 1;
          EXPECT_EQ(products.sum((k * kShape.bits + i) * kShape.length + j),
                    products.delta().where(bit));
        }
  }
}

// AES of shares, as bench and servers have it: the key is of 16 octets.
template <class Made>
Result<Bytes> encrypted(Dealer& dealer, const Bytes& key, const Bytes& blocks, const Made& make) {
  auto masks = InputMasks::make(dealer, key.size() + blocks.size());
  if (!masks) return masks.error();
  auto boxes = make(dealer, schedule_lookups(16) + block_lookups(16) * blocks.size() / 16);
  if (!boxes) return boxes.error();
  const Substitute substitute = [&](std::span<Label> octets) {
    return boxes->look_up(dealer, octets);
  };
  auto secret = masks->input(dealer, key);
  auto states = secret ? masks->input(dealer, blocks) : secret.error();
  if (!states) return states.error();
  auto keys = expand_key(dealer, substitute, *secret);
  if (!keys) return keys.error();
  if (auto done = encrypt(substitute, *keys, *states); !done) return done.error();
  return output(dealer, *states);
}

Result<Tables> sbox_tables(Dealer& dealer, std::size_t count) {
  return Tables::make(dealer, aes_sbox(), count);
}

// Shares of octets: random ones, and what is missing.
Blocks shares_of(std::mt19937_64& generator, const Bytes& octets, std::size_t parties) {
  Blocks out;
  out[0] = octets;
  for (std::size_t p = 1; p < parties; ++p) {
    out[p] = random_octets(generator, octets.size());
    for (std::size_t k = 0; k < octets.size(); ++k) out[0][k] ^= out[p][k];
  }
  return out;
}

template <class Made>
ManyOutcome encrypt_among(std::size_t parties, const Bytes& key, const Bytes& blocks,
                          const Made& make, Blocks& out, const Changes& changes = {}) {
  std::mt19937_64 generator(parties);
  const Blocks keys = shares_of(generator, key, parties),
               texts = shares_of(generator, blocks, parties);
  return with_multi_dealers(
      parties,
      [&](Dealer& dealer, std::size_t own) -> Result<void> {
        auto made = encrypted(dealer, keys[own], texts[own], make);
        if (!made) return made.error();
        out[own] = std::move(*made);
        return {};
      },
      changes, std::size_t{32} * 15 * 128);
}

TEST(LutMulti, AesIsThatOfTheStandardAndOfOpenssl) {
  // FIPS 197, appendix C.1.
  const Bytes key = octets_of("000102030405060708090a0b0c0d0e0f"),
              block = octets_of("00112233445566778899aabbccddeeff"),
              expected = octets_of("69c4e0d86a7b0430d8cdb78070b4c55a");
  for (const std::size_t parties : {3, 4}) {
    Blocks out;
    const ManyOutcome outcome = encrypt_among(parties, key, block, sbox_tables, out);
    ASSERT_TRUE(outcome.ok()) << outcome.first();
    for (std::size_t p = 0; p < parties; ++p) EXPECT_EQ(out[p], expected) << p;
  }
  std::mt19937_64 generator(5);
  const Bytes other = random_octets(generator, 16), blocks = random_octets(generator, 32),
              known = openssl_encrypted(EVP_aes_128_ecb(), other, blocks);
  const auto norms = [](Dealer& dealer, std::size_t count) {
    return NormTables::make(dealer, count);
  };
  const auto powers = [](Dealer& dealer, std::size_t count) {
    return PowerBoxes::make(dealer, Powers::kShortChain, count);
  };
  Blocks by_norms, by_powers;
  for (const auto& outcome : {encrypt_among(3, other, blocks, norms, by_norms),
                              encrypt_among(3, other, blocks, powers, by_powers)})
    ASSERT_TRUE(outcome.ok()) << outcome.first();
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(by_norms[p], known);
    EXPECT_EQ(by_powers[p], known);
  }
}

}  // namespace
}  // namespace tkdc::lut
