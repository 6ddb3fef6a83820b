// SPDX-License-Identifier: Apache-2.0
// Triple DES by each kind of S-box against SP 800-67 and OpenSSL; messages changed.
#include "lut/des.h"

#include "field/gf256.h"
#include "lut/aes.h"
#include "lut/des_circuit.h"
#include "lut/des_polynomials.h"
#include "lut/des_tables.h"
#include "lut/kernel.h"
#include "lut/lut_parties.h"

namespace tkdc::lut {
namespace {

Bytes openssl_des(const Bytes& key, const Bytes& blocks) {
  return openssl_encrypted(EVP_des_ede3(), key, blocks);
}

// Labels of bits that are not shared: the circuit of permutations by itself.
TEST(LutDes, TheLayersAreTheStandards) {
  const auto in_the_clear = [](const Bytes& octets) {
    Labels out;
    for (const std::uint8_t one : octets)
      for (unsigned k = 0; k < 8; ++k) out.push_back({one >> k & 1u, 0});
    standard_order(out);
    return out;
  };
  unsigned layers = 0;
  const SubstituteSix substitute = [&](std::span<const Label> in,
                                       std::span<Label> out) -> Result<void> {
    ++layers;
    for (std::size_t k = 0; k < in.size() / kDesIn; ++k) {
      std::size_t x = 0;
      for (std::size_t j = 0; j < kDesIn; ++j) x |= (in[k * kDesIn + j].low & 1) << j;
      for (std::size_t j = 0; j < kDesOut; ++j)
        out[k * kDesOut + j] = {des_boxes()[k % kDesBoxes][x] >> j & 1u, 0};
    }
    return {};
  };
  const auto encrypted = [&](const Bytes& key, const Bytes& blocks) {
    Labels states = in_the_clear(blocks);
    EXPECT_TRUE(encrypt_des(substitute, in_the_clear(key), states));
    Bytes out;
    for (const Label& one : octets_of_des(states)) out.push_back(one.low & 0xff);
    return out;
  };
  // SP 800-67, appendix B.1.
  EXPECT_EQ(encrypted(octets_of("0123456789abcdef23456789abcdef01456789abcdef0123"),
                      octets_of("5468652071756663"
                                "6b2062726f776e20"
                                "666f78206a756d70")),
            octets_of("a826fd8ce53b855f"
                      "cce21c8112256fe6"
                      "68d5c05dd9b6b900"));
  EXPECT_EQ(layers, kDesLayers);
  std::mt19937_64 generator(3);
  for (int k = 0; k < 50; ++k) {
    const Bytes key = random_octets(generator, kDesKeyOctets),
                blocks = random_octets(generator, 40);
    EXPECT_EQ(encrypted(key, blocks), openssl_des(key, blocks));
  }
}

TEST(LutDes, OtherLengthsAreRefused) {
  const SubstituteSix never = [](std::span<const Label>, std::span<Label>) -> Result<void> {
    return fail("was called");
  };
  for (const auto& [key, block] : {std::pair{192, 63}, {192, 65}, {191, 64}, {128, 64}, {0, 64}}) {
    const Labels bits(key);
    Labels blocks(block);
    auto refused = encrypt_des(never, bits, blocks);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("has 192"), std::string::npos);
  }
}

// p(X) q(X) + r(X) in the clear.
TEST(LutDes, PolynomialsAreTheSBoxes) {
  const auto at = [](const std::array<std::uint8_t, kTerms>& of, std::uint8_t x) {
    std::uint8_t out = of[0];
    for (std::size_t part = 0; part < 3; ++part) {
      std::uint8_t power = x;  // of 1, 3 and 7
      for (std::size_t k = 0; k < 2 * part + (part == 2 ? 2 : 0); ++k)
        power = gf256_multiply(power, x);
      for (std::size_t i = 0; i < 8; ++i, power = gf256_multiply(power, power))
        out ^= gf256_multiply(of[1 + part * 8 + i], power);
    }
    return out;
  };
  for (std::size_t box = 0; box < kDesBoxes; ++box)
    for (unsigned x = 0; x < 64; ++x) {
      const DesPolynomials& of = des_polynomials()[box];
      const auto octet = static_cast<std::uint8_t>(x);
      EXPECT_EQ((gf256_multiply(at(of.p, octet), at(of.q, octet)) ^ at(of.r, octet)) & 15,
                des_boxes()[box][x])
          << box << " " << x;
    }
}

struct Encrypted {
  Bytes out[2];
  std::uint64_t online_at[2] = {0, 0};
};

template <class Boxes, bool expanded = true>
Outcome encrypt_shared(const Bytes& key, const Bytes& blocks, Encrypted& done, int cheat = 0,
                       Change change = {}) {
  return with_dealers(
      [&](Dealer& dealer, int p) -> Result<void> {
        auto boxes = Boxes::make(dealer, blocks.size() / kDesBlockOctets * kDesLookups);
        if (!boxes) return boxes.error();
        if constexpr (requires { boxes->expand(); })
          if (expanded) boxes->expand();
        auto masks = BitMasks::make(dealer, key.size() + blocks.size());
        if (!masks) return masks.error();
        const auto share = [p](Bytes of) {
          for (std::size_t k = 0; k < of.size(); ++k)
            of[k] = static_cast<std::uint8_t>(p == 0 ? of[k] ^ (37 * k) : 37 * k);
          return of;
        };
        auto keys = masks->input(dealer, share(key));
        if (!keys) return keys.error();
        auto states = masks->input(dealer, share(blocks));
        if (!states) return states.error();
        standard_order(*keys);
        standard_order(*states);
        done.online_at[p] = dealer.session().channel().sent();
        const SubstituteSix substitute = [&](std::span<const Label> in, std::span<Label> out) {
          return boxes->substitute(dealer, in, out);
        };
        if (auto ran = encrypt_des(substitute, *keys, *states); !ran) return ran;
        EXPECT_EQ(boxes->left(), 0u);
        auto out = output(dealer, octets_of_des(*states));
        if (!out) return out.error();
        done.out[p] = std::move(*out);
        return {};
      },
      cheat, change, std::size_t{64} * 15 * 128);
}

template <class Boxes>
class LutDesBoxes : public testing::Test {};
using AllBoxes = testing::Types<DesTables, DesByPolynomials, DesByCircuit>;
TYPED_TEST_SUITE(LutDesBoxes, AllBoxes);

TYPED_TEST(LutDesBoxes, AsTheStandardAndOpenssl) {
  const Bytes key = octets_of("0123456789abcdef23456789abcdef01456789abcdef0123");
  const Bytes blocks = octets_of("54686520717566631122334455667788");
  Encrypted done;
  const Outcome outcome = encrypt_shared<TypeParam>(key, blocks, done);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  for (const Bytes& out : done.out) {
    EXPECT_EQ(out, openssl_des(key, blocks));
    EXPECT_EQ(Bytes(out.begin(), out.begin() + 8), octets_of("a826fd8ce53b855f"));
  }
}

TEST(LutDesTables, ThatAreNotExpandedSayTheSame) {
  const Bytes key = octets_of("0123456789abcdef23456789abcdef01456789abcdef0123");
  const Bytes blocks = octets_of("54686520717566631122334455667788");
  Encrypted done;
  ASSERT_TRUE((encrypt_shared<DesTables, false>(key, blocks, done).ok()));
  for (const Bytes& out : done.out) EXPECT_EQ(out, openssl_des(key, blocks));
}

TEST(LutDesTables, ComeByEights) {
  const Outcome outcome = with_dealers([](Dealer& dealer, int) -> Result<void> {
    EXPECT_FALSE(DesTables::make(dealer, 12));
    auto made = DesTables::make(dealer, 16);
    if (!made) return made.error();
    const Labels in(7 * kDesIn);
    Labels out(7 * kDesOut);
    auto refused = made->substitute(dealer, in, out);
    EXPECT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("by eights"), std::string::npos);
    EXPECT_EQ(made->left(), 16u);
    return {};
  });
  EXPECT_TRUE(outcome.ok());
}

TYPED_TEST(LutDesBoxes, AWrongOpeningEndsItBeforeAnythingIsPutOut) {
  const Bytes key(kDesKeyOctets, 0x31), block(kDesBlockOctets, 0x5a);
  Encrypted honest;
  const Outcome outcome = encrypt_shared<TypeParam>(key, block, honest);
  ASSERT_TRUE(outcome.ok());
  for (const int cheat : {0, 1}) {
    // The layers are all but the outputs and two checks.
    const std::uint64_t first = honest.online_at[cheat],
                        layers = outcome.sent[cheat] - first - 8 - 2 * (cheat == 0 ? 32 : 96);
    for (const auto& [at, bit] : {std::pair<std::uint64_t, std::uint8_t>{first, 0x01},
                                  {first + layers / 2, 0x80},
                                  {first + layers - 1, 0x01}}) {
      Encrypted changed;
      const Outcome ended = encrypt_shared<TypeParam>(key, block, changed, cheat, {at, bit});
      EXPECT_TRUE(ended.error[1 - cheat]) << cheat << " " << at - first;
      EXPECT_TRUE(changed.out[1 - cheat].empty());
      EXPECT_LE(ended.sent[1 - cheat], outcome.sent[1 - cheat] - 8 - 32);
    }
  }
}

}  // namespace
}  // namespace tkdc::lut
