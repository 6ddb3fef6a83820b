// SPDX-License-Identifier: Apache-2.0
// S-boxes by powers, every octet; labels of both put together, and messages changed.
#include "lut/aes_powers.h"

#include "lut/kernel.h"
#include "lut/lut_parties.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

auto made_by(Powers powers) {
  return [powers](Dealer& dealer, std::size_t count) {
    return PowerBoxes::make(dealer, powers, count);
  };
}

class LutPowers : public testing::TestWithParam<Powers> {};
INSTANTIATE_TEST_SUITE_P(Both, LutPowers,
                         testing::Values(Powers::kAllSquares, Powers::kShortChain));

TEST_P(LutPowers, EveryOctetIsTheSboxsUnderItsMac) {
  constexpr std::size_t kCount = 256;
  Looked looked;
  const Outcome outcome = look_up_all(made_by(GetParam()), kCount, looked);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  looked.expect_right(kCount, aes_sbox());
  // Two octets a product, one of each octet whose bits are taken; and the check.
  const std::size_t openings = GetParam() == Powers::kAllSquares ? 14 : 12;
  EXPECT_EQ(outcome.sent[0] - looked.online_at[0], kCount * openings + 32);
}

// Each message's first octet, and the check.
TEST_P(LutPowers, EveryOpeningChangedEndsIt) {
  constexpr std::size_t kFew = 3;
  Looked honest;
  const Outcome outcome = look_up_all(made_by(GetParam()), kFew, honest);
  ASSERT_TRUE(outcome.ok());
  for (const int cheat : {0, 1}) {
    const std::uint64_t all = outcome.sent[cheat] - honest.online_at[cheat];
    for (std::uint64_t at = 0; at < all; at += 5) {
      Looked looked;
      const Outcome ended = look_up_all(made_by(GetParam()), kFew, looked, cheat,
                                        {honest.online_at[cheat] + at, 0x04});
      EXPECT_TRUE(ended.error[1 - cheat]) << cheat << " " << at;
    }
  }
}

TEST_P(LutPowers, MoreThanAreLeftSendNothing) {
  const Outcome outcome = with_dealers([](Dealer& dealer, int) -> Result<void> {
    auto boxes = PowerBoxes::make(dealer, GetParam(), 2);
    if (!boxes) return boxes.error();
    Labels octets(3);
    const std::uint64_t before = dealer.session().channel().sent();
    auto refused = boxes->look_up(dealer, octets);
    EXPECT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("only 2 S-boxes left"), std::string::npos);
    EXPECT_EQ(dealer.session().channel().sent(), before);
    return {};
  });
  EXPECT_TRUE(outcome.ok());
}

}  // namespace
}  // namespace tkdc::lut
