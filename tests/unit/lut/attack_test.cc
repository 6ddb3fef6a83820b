// SPDX-License-Identifier: Apache-2.0
// A changed party against one that checks: wrong entries, MACs by a guess, tables of two sessions.
#include "lut/attack_parties.h"

namespace tkdc::lut {
namespace {

constexpr std::uint8_t kX = 0x53, kFlip = 0x20;

TEST(LutAttack, AWrongEntryEndsTheNextCheck) {
  for (const int cheat : {0, 1}) {
    EXPECT_TRUE(look_up_and_open(kX, cheat, kFlip).ended);
    const Opened honest = look_up_and_open(kX, cheat, 0);
    EXPECT_FALSE(honest.ended) << "the control";
    EXPECT_EQ(honest.value, aes_sbox()[kX]);
  }
}

// A party opens e more than it has, and puts e Δ into what it expects: of the other one's part of Δ
// it has a guess.
Opened forge(int cheat, const std::function<Label(const Label&)>& guess_of) {
  Label part[2];
  const auto publish = [&](Dealer& dealer, int p) -> Result<void> {
    part[p] = dealer.octet_part();
    std::uint8_t octet = 0;
    return dealer.exchange({&octet, 1});
  };
  Opened out;
  const Outcome outcome = with_dealers([&](PairDealer& dealer, int p) -> Result<void> {
    if (auto met = publish(dealer, p); !met) return met;
    Labels octets(1, dealer.multiple(kX));
    if (p == cheat) {
      const Label forged = part[p] ^ guess_of(part[1 - p]);
      octets[0] = octets[0] ^ times(forged, kFlip);
    }
    std::uint8_t unheard = 0;
    return open_and_check(dealer, octets, p != cheat ? out.value : unheard);
  });
  out.ended = outcome.error[1 - cheat].has_value();
  return out;
}

// Octet 0 of Δ is known: it is 1. Any other bit of it that is guessed wrong is found.
TEST(LutAttack, AMacByAGuessIsFoundUnlessAllOfItIsRight) {
  for (const int cheat : {0, 1}) {
    for (const std::size_t wrong : {8, 31, 64, 90, 127}) {
      const auto guess = [&](Label right) {
        (wrong < 64 ? right.low : right.high) ^= std::uint64_t{1} << wrong % 64;
        return right;
      };
      EXPECT_TRUE(forge(cheat, guess).ended) << cheat << " " << wrong;
    }
    const Opened known = forge(cheat, [](const Label& right) { return right; });
    EXPECT_FALSE(known.ended) << "the control: who knows Δ forges";
    EXPECT_EQ(known.value, kX ^ kFlip);
  }
}

// Where nobody refused them, the check would end both sessions, honest as both are.
TEST(LutAttack, TablesOfAnotherSessionAreRefusedAndWouldEndTheCheck) {
  for (const bool refuses : {true, false}) {
    std::optional<Tables> kept[2];
    for (const bool first : {true, false}) {
      const Outcome outcome = with_dealers([&](PairDealer& dealer, int p) -> Result<void> {
        if (first) {
          auto made = Tables::make(dealer, aes_sbox(), 1);
          if (!made) return made.error();
          kept[p].emplace(std::move(*made));
          return {};
        }
        if (!refuses) Inside::belongs_to(*kept[p], dealer.session());
        const std::uint64_t before = dealer.session().channel().sent();
        Labels octets(1, dealer.multiple(kX));
        if (auto done = kept[p]->look_up(dealer, octets); !done) {
          EXPECT_EQ(dealer.session().channel().sent(), before);
          return dealer.session().stands();
        }
        return dealer.check();
      });
      if (first || refuses) {
        EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
        continue;
      }
      EXPECT_TRUE(outcome.error[0] && outcome.error[1]) << "the control";
    }
  }
}

}  // namespace
}  // namespace tkdc::lut
