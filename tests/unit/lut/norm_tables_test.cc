// SPDX-License-Identifier: Apache-2.0
// S-boxes by norms, every octet; labels of both put together, and messages changed.
#include "lut/norm_tables.h"

#include "lut/lut_parties.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kCount = 256;

struct Looked {
  Both<Labels> labels;
  std::uint64_t online_at[2] = {0, 0};
};

// Every octet once, shared as party 0 likes.
Outcome look_up_all(Looked& out, std::size_t count = kCount, int cheat = 0, Change change = {}) {
  return with_dealers(
      [&](Dealer& dealer, int p) -> Result<void> {
        out.labels.part[p] = dealer.octet_part();
        auto tables = NormTables::make(dealer, count);
        if (!tables) return tables.error();
        Labels octets(count);
        for (std::size_t k = 0; k < count; ++k)
          octets[k] = dealer.multiple(static_cast<std::uint8_t>(k));
        out.online_at[p] = dealer.session().channel().sent();
        if (auto done = tables->look_up(dealer, octets); !done) return done;
        EXPECT_EQ(tables->left(), 0u);
        if (auto good = dealer.check(); !good) return good;
        out.labels.of[p] = std::move(octets);
        return {};
      },
      cheat, change);
}

void expect_right(const Looked& looked, std::size_t count) {
  const Label delta = looked.labels.delta();
  EXPECT_EQ(delta.low & 0xff, 1u);
  for (std::size_t k = 0; k < count; ++k)
    EXPECT_EQ(looked.labels.of[0][k] ^ looked.labels.of[1][k], times(delta, aes_sbox()[k])) << k;
}

TEST(LutNormTables, EveryOctetIsTheSboxsUnderItsMac) {
  Looked looked;
  const Outcome outcome = look_up_all(looked);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  expect_right(looked, kCount);
}

// Each of the three openings, and the check.
TEST(LutNormTables, EveryOnlineMessageChangedEndsIt) {
  constexpr std::size_t kFew = 5;
  Looked honest;
  const Outcome outcome = look_up_all(honest, kFew);
  ASSERT_TRUE(outcome.ok());
  expect_right(honest, kFew);
  for (const int cheat : {0, 1})
    for (std::uint64_t at = 0; at < outcome.sent[cheat] - honest.online_at[cheat];
         at += at < 3 * kFew ? 4 : 31) {
      Looked looked;
      const Outcome ended = look_up_all(looked, kFew, cheat, {honest.online_at[cheat] + at, 0x20});
      EXPECT_TRUE(ended.error[1 - cheat]) << cheat << " " << at;
    }
}

}  // namespace
}  // namespace tkdc::lut
