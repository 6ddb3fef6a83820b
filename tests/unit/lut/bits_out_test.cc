// SPDX-License-Identifier: Apache-2.0
// From bits to octets and back: both parties' put together; each message changed; what one mask
// for two values would tell; what is refused before a word is said.
#include "lut/bits_out.h"

#include "lut/bits_out_parties.h"
#include "lut/inside.h"

namespace tkdc::lut {
namespace {

TEST(LutBitsOut, EveryOctetThereAndBackUnderItsMacs) {
  Bytes octets(kPlaces);
  for (unsigned k = 0; k < octets.size(); ++k) octets[k] = static_cast<std::uint8_t>(k);
  There out;
  const Outcome outcome = there_and_back(octets, out);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  for (std::size_t k = 0; k < octets.size(); ++k)
    EXPECT_EQ(out.labels.of[0][k] ^ out.labels.of[1][k], times(out.labels.delta(), octets[k])) << k;
  EXPECT_EQ(out.held.octets(), octets);
}

// d's octets, and the check's.
TEST(LutBitsOut, EveryMessageChangedEndsIt) {
  const Bytes octets = {1, 2, 3};
  There honest;
  const Outcome outcome = there_and_back(octets, honest);
  ASSERT_TRUE(outcome.ok());
  for (const int cheat : {0, 1})
    for (std::uint64_t at = honest.out_at[cheat]; at < outcome.sent[cheat];
         at += at < honest.out_at[cheat] + 3 ? 1 : 31)
      for (const Bytes& of : {octets, Bytes{0xff, 0, 0x80}}) {
        There out;
        const Outcome ended = there_and_back(of, out, cheat, {at, 0x10});
        EXPECT_TRUE(ended.error[1 - cheat]) << cheat << " " << at;
        EXPECT_TRUE(out.held.of[1 - cheat].bits.empty());
      }
}

TEST(LutBitsOut, APartyThatFlipsABitEndsIt) {
  for (const int cheat : {0, 1}) EXPECT_FALSE(flip_a_bit_that_leaves(cheat));
}

// Two values that leave, by masks of their own or, what take() never lets happen, by the same one.
// Whether what either party has heard is their exclusive-or.
bool tells_the_difference(bool once) {
  const Bytes values[2] = {{1, 2, 3, 4, 5, 6, 7, 8}, {0xff, 0, 0x80, 9, 9, 9, 0x11, 0x22}};
  Bytes heard[2];
  const Outcome outcome = with_dealers([&](PairDealer& dealer, int p) -> Result<void> {
    auto masks = BitsOut::make(dealer, 16);
    if (!masks) return masks.error();
    const auto bits = Inside::bits(*masks);
    if (!once) std::copy_n(bits.begin(), 64, bits.begin() + 64);
    for (const std::size_t turn : {0, 1}) {
      auto held = held_of(dealer, shares_of(values[turn], turn)[static_cast<std::size_t>(p)]);
      if (!held) return held.error();
      const AuthBits mask(&bits[64 * turn], &bits[64 * turn] + 64);
      auto out = masks->take(dealer, *octets_of(dealer, *held));
      if (!out) return out.error();
      if (p == 1) continue;
      pair::Bits d(64);  // the garbler's bits are the mask's, moved by it
      for (std::size_t k = 0; k < d.size(); ++k)
        d[k] = static_cast<std::uint8_t>(out->bits[k].own() ^ mask[k].own());
      heard[turn] = pair::packed(d);
    }
    return {};
  });
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
  Bytes sum(8), difference(8);
  for (std::size_t k = 0; k < sum.size(); ++k) {
    sum[k] = heard[0][k] ^ heard[1][k];
    difference[k] = values[0][k] ^ values[1][k];
  }
  return sum == difference;
}

TEST(LutBitsOut, OneMaskForTwoValuesWouldTellTheirDifference) {
  EXPECT_FALSE(tells_the_difference(true));
  EXPECT_TRUE(tells_the_difference(false)) << "the control";
}

// How the garbler ends where the evaluator opens `opens`, hears its value of the equality and
// breaks the link.
struct Broken {
  pair::EndedBy by = pair::EndedBy::kNothing;
  bool lost = false;
};
Broken broken_in_its_check(const DealerBody& garbler, std::size_t opens) {
  Broken out;
  (void)with_dealers(
      [&](PairDealer& dealer) {
        auto done = garbler(dealer);
        out = {dealer.session().ended_by(), dealer.session().lost_in_check()};
        return done;
      },
      [&](PairDealer& dealer) -> Result<void> {
        if (auto masks = BitsOut::make(dealer, 8); !masks) return masks.error();
        Bytes octets(opens);
        pair::Digest told{};
        if (auto done = dealer.exchange(octets); !done) return done;
        if (auto sent = dealer.session().channel().write(told); !sent) return sent;
        if (auto got = dealer.session().channel().read(told); !got) return got;
        return fail("broken, it says");
      });
  return out;
}

// An outsider may reset connections: the garbler does not take that for a guess.
TEST(LutBitsOut, ALinkThatBreaksInItsCheckIsALink) {
  const Broken taken = broken_in_its_check(
      [](PairDealer& dealer) -> Result<void> {
        auto masks = BitsOut::make(dealer, 8);
        if (!masks) return masks.error();
        auto bits = masks->take(dealer, Labels(8));
        return bits ? Result<void>() : bits.error();
      },
      8);
  EXPECT_EQ(taken.by, pair::EndedBy::kLink);
  EXPECT_FALSE(taken.lost);
  const Broken made = broken_in_its_check(
      [](PairDealer& dealer) -> Result<void> {
        if (auto masks = BitsOut::make(dealer, 8); !masks) return masks.error();
        return dealer.check();  // as what makes tables has it: there it may be a guess
      },
      0);
  EXPECT_EQ(made.by, pair::EndedBy::kCheck);
  EXPECT_TRUE(made.lost);
}

TEST(LutBitsOut, BitsOfAnotherSessionAndHalvesOfOctetsAreRefused) {
  const Outcome outcome = with_dealers([](PairDealer& dealer, int) -> Result<void> {
    const Held other{Label{1, 2}, AuthBits(16)};
    EXPECT_NE(octets_of(dealer, other).error().message.find("another session"), std::string::npos);
    for (const std::size_t bits : {1, 7, 12}) {
      const Held half{dealer.session().id(), AuthBits(bits)};
      EXPECT_NE(octets_of(dealer, half).error().message.find("no whole octets"), std::string::npos);
    }
    return dealer.session().stands();
  });
  EXPECT_TRUE(outcome.ok());
}

}  // namespace
}  // namespace tkdc::lut
