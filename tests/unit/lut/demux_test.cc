// SPDX-License-Identifier: Apache-2.0
// One-hot vectors of both parties put together.
#include "lut/lut_parties.h"

namespace tkdc::lut {
namespace {

struct Vectors {
  Labels bits, places;
};

Outcome demux_pair(std::size_t bits, std::size_t count, Both<Vectors>& out) {
  return with_dealers([&](Dealer& dealer, int p) -> Result<void> {
    Vectors& own = out.of[p];
    out.part[p] = dealer.part();
    own.bits.resize(bits * count);
    if (auto drawn = dealer.draw(std::span(own.bits)); !drawn) return drawn;
    auto made = demux(dealer, own.bits, bits);
    if (!made) return made.error();
    own.places = std::move(*made);
    return dealer.check();
  });
}

void expect_one_hot(std::size_t bits, std::size_t count) {
  Both<Vectors> both;
  const Outcome outcome = demux_pair(bits, count, both);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  const Label delta = both.delta();
  const std::size_t places = std::size_t{1} << bits;
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t s = 0;
    for (std::size_t j = 0; j < bits; ++j)
      s |= bit_of(both.of[0].bits[k * bits + j], both.of[1].bits[k * bits + j], delta) << j;
    for (std::size_t j = 0; j < places; ++j)
      EXPECT_EQ(bit_of(both.of[0].places[k * places + j], both.of[1].places[k * places + j], delta),
                j == s)
          << k << " " << j;
  }
}

TEST(LutDemux, FourBitsGiveAOneHotVector) { expect_one_hot(4, 20); }
TEST(LutDemux, SixBitsGiveAOneHotVector) { expect_one_hot(6, 8); }
TEST(LutDemux, EightBitsGiveAOneHotVector) { expect_one_hot(8, 3); }

TEST(LutDemux, OtherWidthsAreRefused) {
  const Outcome outcome = with_dealers([](Dealer& dealer, int) -> Result<void> {
    for (const std::size_t width : {0, 5, 7, 9}) EXPECT_FALSE(demux(dealer, Labels(315), width));
    return {};
  });
  EXPECT_TRUE(outcome.ok());
}

}  // namespace
}  // namespace tkdc::lut
