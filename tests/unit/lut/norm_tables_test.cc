// SPDX-License-Identifier: Apache-2.0
// S-boxes by norms, every octet; labels of both put together, and messages changed.
#include "lut/norm_tables.h"

#include <algorithm>
#include <set>

#include "field/gf256.h"
#include "lut/lut_parties.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kCount = 256;

TEST(LutNormTables, EveryOctetIsTheSboxsUnderItsMac) {
  Looked looked;
  const Outcome outcome = look_up_all(NormTables::make, kCount, looked);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  looked.expect_right(kCount, aes_sbox());
}

// Each of the three openings, and the check.
TEST(LutNormTables, EveryOnlineMessageChangedEndsIt) {
  constexpr std::size_t kFew = 5;
  Looked honest;
  const Outcome outcome = look_up_all(NormTables::make, kFew, honest);
  ASSERT_TRUE(outcome.ok());
  honest.expect_right(kFew, aes_sbox());
  for (const int cheat : {0, 1})
    for (std::uint64_t at = 0; at < outcome.sent[cheat] - honest.online_at[cheat];
         at += at < 3 * kFew ? 4 : 31) {
      Looked looked;
      const Outcome ended =
          look_up_all(NormTables::make, kFew, looked, cheat, {honest.online_at[cheat] + at, 0x20});
      EXPECT_TRUE(ended.error[1 - cheat]) << cheat << " " << at;
    }
}

// What masks of four bits cover: page 24's lemma.
bool is_of_16(std::uint8_t x) {
  std::uint8_t conjugate = x;
  for (int k = 0; k < 4; ++k) conjugate = gf256_multiply(conjugate, conjugate);
  return conjugate == x;
}

// One party opens every octet in g's place, also such as are not in GF(16). What the other one says
// of N(x) and of its inverse stays in GF(16), so m and m' mask all of it.
TEST(LutNormTables, SharesStayInGf16WhateverIsOpened) {
  for (const auto way : {SboxWay::kForward, SboxWay::kInverse})
    for (const int cheat : {0, 1}) {
      Bytes heard[3];
      const Outcome outcome = with_dealers([&](Dealer& dealer, int p) -> Result<void> {
        auto tables = way == SboxWay::kForward ? NormTables::make(dealer, kCount)
                                               : NormTables::make_inverse(dealer, kCount);
        if (!tables) return tables.error();
        Labels octets(kCount);
        if (p != cheat) return tables->look_up(dealer, octets);
        for (std::size_t round = 0; round < 3; ++round) {
          Bytes own(kCount);
          for (std::size_t k = 0; k < kCount; ++k)
            own[k] = static_cast<std::uint8_t>(round == 1 ? k : 29 * k + 7);
          heard[round] = own;
          if (auto done = dealer.exchange(heard[round]); !done) return done;
          for (std::size_t k = 0; k < kCount; ++k) heard[round][k] ^= own[k];
        }
        return {};
      });
      ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
      for (std::size_t k = 0; k < kCount; ++k) {
        EXPECT_TRUE(is_of_16(heard[1][k])) << k;
        EXPECT_TRUE(is_of_16(heard[2][k])) << k;
      }
      EXPECT_FALSE(std::ranges::all_of(heard[0], is_of_16)) << "the control: h is of 256";
    }
  // The formula as it reads, for a g that is not in GF(16), would leave it.
  const auto inverse_leaves = [](std::uint8_t g) { return !is_of_16(gf256_inverse(g)); };
  EXPECT_TRUE(inverse_leaves(2));
}

// 256 times one octet under one key: what is opened of it has no more to do with it than with any
// other one. Both directions are read in runs from the same random numbers.
TEST(LutNormTables, OneOctetIsOpenedAsAnything) {
  const ot::FixedRandom fixed;
  for (const auto way : {SboxWay::kForward, SboxWay::kInverse}) {
    Bytes said[2];
    for (const int p : {0, 1}) {
      std::uint64_t from[2] = {0, 0};
      Bytes all;
      Change tap;
      tap.rewrite = [&](std::uint64_t, MutableByteSpan octets) {
        all.insert(all.end(), octets.begin(), octets.end());
      };
      const Outcome outcome = with_many_bits(
          [&](Dealer& dealer, int who) -> Result<void> {
            auto tables = way == SboxWay::kForward ? NormTables::make(dealer, kCount)
                                                   : NormTables::make_inverse(dealer, kCount);
            if (!tables) return tables.error();
            const Labels octets_of_one(kCount, dealer.multiple(0x53));
            Labels octets = octets_of_one;
            from[who] = dealer.session().channel().sent();
            return tables->look_up(dealer, octets);
          },
          p, tap, true);
      ASSERT_TRUE(outcome.ok());
      ASSERT_EQ(all.size(), from[p] + 3 * kCount);
      said[p].assign(all.end() - 3 * kCount, all.end());
    }
    std::set<std::uint8_t> opened[3];
    for (std::size_t k = 0; k < 3 * kCount; ++k) opened[k / kCount].insert(said[0][k] ^ said[1][k]);
    EXPECT_GT(opened[0].size(), 120u) << "h";
    EXPECT_EQ(opened[1].size(), 16u) << "g";
    EXPECT_EQ(opened[2].size(), 16u) << "f";
  }
}

}  // namespace
}  // namespace tkdc::lut
