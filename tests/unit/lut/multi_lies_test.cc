// SPDX-License-Identifier: Apache-2.0
// Of several parties one tells two honest ones different things, or what it may not know is told.
#include "lut/aes.h"
#include "lut/multi_parties.h"
#include "lut/norm_tables.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kMaskBits = 128;  // of a batch

// Octets that are looked up, and what each honest party puts out; where each phase begins in what
// party 0 sends to party 1.
struct Lookups {
  std::uint64_t drawn_at = 0, made_at = 0, online_at = 0, out_at = 0, end = 0;
  Blocks out;
  ManyOutcome outcome;
};

Lookups look_up_among_three(const Changes& changes = {}) {
  Lookups run;
  run.outcome = with_many_sessions(
      3,
      [&](const Sessions& sessions, std::size_t own) -> Result<void> {
        const auto mark = [&](std::uint64_t& at) {
          if (own == 0) at = sessions[0]->channel().sent();
        };
        mark(run.drawn_at);
        auto dealer = MultiDealer::create(sessions, own, std::size_t{2} * kFewBits);
        if (!dealer) return dealer.error();
        mark(run.made_at);
        auto tables = NormTables::make(**dealer, 4);
        if (!tables) return tables.error();
        mark(run.online_at);
        Labels octets(4);
        for (std::size_t k = 0; k < octets.size(); ++k)
          octets[k] = (*dealer)->multiple(static_cast<std::uint8_t>(k));
        if (auto done = tables->look_up(**dealer, octets); !done) return done;
        mark(run.out_at);
        auto put = output(**dealer, octets);
        if (!put) return put.error();
        run.out[own] = std::move(*put);
        mark(run.end);
        return {};
      },
      changes);
  return run;
}

const Bytes& four_of_the_sbox() {
  static const Bytes all(aes_sbox().begin(), aes_sbox().begin() + 4);
  return all;
}

// Party 0 sends an octet to party 1 otherwise than it should, and to party 2 as it should.
TEST(LutMulti, WhoIsToldOtherThingsThanTheOthersPutsNothingWrongOut) {
  const Lookups honest = look_up_among_three();
  ASSERT_TRUE(honest.outcome.ok()) << honest.outcome.first();
  for (std::size_t p = 0; p < 3; ++p) ASSERT_EQ(honest.out[p], four_of_the_sbox());
  std::size_t ended = 0, tried = 0;
  const auto change_at = [&](std::uint64_t at) {
    const Lookups run = look_up_among_three({{{0, 1}, Change{at, 0x01}}});
    ++tried;
    ended += run.outcome.error[1].has_value() ? 1 : 0;
    for (const std::size_t p : {1, 2}) {
      EXPECT_EQ(run.out[p].empty(), run.outcome.error[p].has_value()) << at;
      EXPECT_TRUE(run.out[p].empty() || run.out[p] == four_of_the_sbox()) << at;
    }
  };
  // Of what is said ahead some octets of each phase, online all of what is opened.
  for (const auto& [from, to, step] : {std::tuple{honest.drawn_at, honest.made_at, 4'001u},
                                       std::tuple{honest.made_at, honest.online_at, 4'001u},
                                       std::tuple{honest.online_at, honest.out_at, 1u},
                                       std::tuple{honest.out_at, honest.end, 307u}})
    for (std::uint64_t at = from; at < to; at += step) change_at(at);
  EXPECT_GT(tried, 30u);
  // But for halves that do not matter: a row's G and U where the honest bit is 0.
  EXPECT_GT(2 * ended, tried);
}

// An opened octet that is changed towards one party is found in every case.
TEST(LutMulti, AnOpeningThatDiffersEndsBothHonestParties) {
  const Lookups honest = look_up_among_three();
  ASSERT_TRUE(honest.outcome.ok());
  for (std::uint64_t at = honest.online_at; at < honest.out_at; ++at) {
    const Lookups run = look_up_among_three({{{0, 1}, Change{at, 0x08}}});
    for (const std::size_t p : {1, 2}) {
      EXPECT_TRUE(run.outcome.error[p].has_value()) << at;
      EXPECT_TRUE(run.out[p].empty()) << at;
    }
  }
}

// Three dealers that have drawn bits, and have not compared their Δ. `at`: where what party 0 then
// sends to party 1 begins.
ManyOutcome after_a_draw(const Changes& changes, std::uint64_t& at,
                         const std::function<Result<void>(MultiDealer&, std::size_t)>& body) {
  return with_many_sessions(
      3,
      [&](const Sessions& sessions, std::size_t own) -> Result<void> {
        const auto dealer = InsideMulti::dealer(sessions, own);
        Labels one(1);
        auto drawn = dealer->draw(std::span(one));
        if (own == 0) at = sessions[0]->channel().sent();
        return drawn ? body(*dealer, own) : drawn;
      },
      changes);
}

// Parties 1 and 2 end; the first to find it says why, be it the liar, who else does as it should.
void expect_both_end(const ManyOutcome& outcome, const char* why) {
  for (const std::size_t p : {1, 2}) ASSERT_TRUE(outcome.error[p].has_value()) << p;
  EXPECT_TRUE(std::any_of(
      outcome.error.begin(), outcome.error.end(),
      [&](const auto& error) { return error && error->find(why) != std::string::npos; }))
      << *outcome.error[1] << "; " << *outcome.error[2];
}

// A liar's bit differs towards one party, and it makes all that it says to that one fit: its turn,
// the sum and the sum's MAC. The last 128 bits of a batch have known coefficients.
TEST(LutMulti, OwnBitsThatDifferEndBothHonestParties) {
  std::uint64_t turns_at = 0, said_at = 0;
  const auto body = [&](const Changes& changes) {
    return after_a_draw(changes, said_at, [](MultiDealer& dealer, std::size_t) -> Result<void> {
      auto coins = dealer.coins();  // who has noticed nothing hears of it
      return coins ? Result<void>() : coins.error();
    });
  };
  ASSERT_TRUE(body({}).ok());
  // The end of what party 0 says: turns; coins (32, an echo of 32, 16 + 32); the sum (16), its echo
  // (32) and its MAC (16).
  const std::uint64_t mac_at = said_at - 16, sum_at = mac_at - 32 - 16, coins_at = sum_at - 112;
  turns_at = coins_at - kMaskBits / 8;  // of the mask's bits
  const auto lie = [&](bool of_all) {
    Change change{turns_at, 1};
    if (of_all) change.more = {{sum_at, 1}, {mac_at, 1}};
    return body({{{0, 1}, change}});
  };
  const ManyOutcome told = lie(true);
  expect_both_end(told, "told other things");
  expect_both_end(lie(false), "not the same towards all");
}

// A liar has another Δ towards party 2 than towards party 1.
TEST(LutMulti, DeltasThatDifferEndBothHonestParties) {
  const auto run = [&](bool compared, Each<Labels>& bits) {
    std::array<Label, kMostParties> deltas;
    for (Label& one : deltas) one = pair::draw_delta(Side::kGarbler);
    const Label other = pair::draw_delta(Side::kGarbler);
    return with_many_sessions(
        3,
        [&, compared](const Sessions& sessions, std::size_t own) -> Result<void> {
          const auto dealer = InsideMulti::dealer(sessions, own);
          if (compared)
            if (auto done = InsideMulti::compare_deltas(*dealer); !done) return done;
          bits.part[own] = dealer->part();
          bits.of[own].resize(256);
          return dealer->draw(std::span(bits.of[own]));
        },
        {},
        [&](std::size_t own, std::size_t towards) {
          return own == 0 && towards == 2 ? other : deltas[own];
        });
  };
  Each<Labels> bits;
  const ManyOutcome found = run(true, bits);
  expect_both_end(found, "not the same Δ towards all");
  // The control: else an opening fails or not by a bit of party 2.
  ASSERT_TRUE(run(false, bits).ok());
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < bits.of[0].size(); ++k) {
    const Label sum = bits.sum(k);
    const bool right = sum == Label{} || sum == bits.delta();
    EXPECT_EQ(right, (bits.of[2][k].low & 1) == 0) << k;
    wrong += right ? 0 : 1;
  }
  EXPECT_GT(wrong, 60u);
}

TEST(LutMulti, ADeltaWithoutItsBitIsRefused) {
  const ManyOutcome outcome = with_many_sessions(
      2, [](const Sessions&, std::size_t) -> Result<void> { return {}; }, {},
      [](std::size_t, std::size_t) {
        return Label{2, 1};
      });
  EXPECT_NE(outcome.first().find("bit 0"), std::string::npos);
}

TEST(LutMulti, SeveralDeltasOfOneselfAreRefused) {
  const ManyOutcome outcome = with_many_sessions(
      3,
      [](const Sessions& sessions, std::size_t own) -> Result<void> {
        auto dealer = MultiDealer::create(sessions, own, kFewBits);
        return dealer ? Result<void>() : dealer.error();
      },
      {}, [](std::size_t, std::size_t) { return pair::draw_delta(Side::kGarbler); });
  EXPECT_NE(outcome.first().find("several Δ"), std::string::npos);
}

// What a check says where a sum is not 0: nothing of the sum, of which Δ would follow.
TEST(LutMulti, ASumIsSaidToBeZeroOrNothingIsSaidOfIt) {
  const std::array<Label, 3> shares = {Label{0x1234, 0x5678}, Label{0x9abc, 0}, Label{0, 0xdef0}};
  const Label all = shares[0] ^ shares[1] ^ shares[2];
  std::array<std::array<Label, 4>, 3> said;
  const ManyOutcome outcome =
      with_many_sessions(3, [&](const Sessions& sessions, std::size_t own) -> Result<void> {
        const auto dealer = InsideMulti::dealer(sessions, own);
        for (std::size_t again = 0; again < 4; ++again) {
          const bool is_zero = again == 0;
          Label sum = shares[own];
          if (is_zero && own == 0) sum = shares[1] ^ shares[2];
          auto masked = InsideMulti::masked_sum(*dealer, sum);
          if (!masked) return masked.error();
          said[own][again] = *masked;
        }
        return {};
      });
  ASSERT_TRUE(outcome.ok()) << outcome.first();
  EXPECT_EQ(said[1], said[0]);
  EXPECT_EQ(said[2], said[0]);
  EXPECT_EQ(said[0][0], Label{});
  std::vector<Label> seen = {Label{}, all};
  for (std::size_t again = 1; again < 4; ++again) {
    EXPECT_EQ(std::count(seen.begin(), seen.end(), said[0][again]), 0) << again;
    seen.push_back(said[0][again]);
  }
}

// Rows and turns of a check that are changed: it fails or holds by no bit of anybody's but such as
// serve for nothing else.
TEST(LutMulti, AWrongSumIsFoundWhateverIsSaidOfIt) {
  for (const std::uint64_t at : {0u, 16u, 16u + 7 * 16, 16u + 127 * 16 + 3}) {
    std::uint64_t from = 0;
    const auto body = [&](const Changes& changes) {
      return after_a_draw(changes, from, [](MultiDealer& dealer, std::size_t own) -> Result<void> {
        auto masked = InsideMulti::masked_sum(dealer, Label{own == 0 ? 1u : 0u, 0});
        if (!masked) return masked.error();
        EXPECT_NE(*masked, Label{}) << own;
        return {};
      });
    };
    ASSERT_TRUE(body({}).ok());
    (void)body({{{0, 1}, Change{from + at, 0x04}}});
  }
}

// Two changed parties and an honest one: an opened octet is changed towards it by either.
TEST(LutMulti, OneHonestPartyAmongChangedOnesPutsNothingWrongOut) {
  const Lookups honest = look_up_among_three();
  ASSERT_TRUE(honest.outcome.ok()) << honest.outcome.first();
  for (const std::size_t from : {0, 1}) {
    const Lookups run = look_up_among_three({{{from, 2}, Change{honest.online_at + 1, 0x04}}});
    EXPECT_TRUE(run.outcome.error[2].has_value());
    EXPECT_TRUE(run.out[2].empty());
  }
}

// A liar gives two honest parties different inputs, and its outputs the same difference: no MAC of
// an opened value is wrong.
TEST(LutMulti, InputsThatDifferEndBothHonestParties) {
  std::uint64_t in_at = 0, out_at = 0;
  std::array<Bytes, 3> out;
  const auto body = [&](const Changes& changes) {
    return with_many_sessions(
        3,
        [&](const Sessions& sessions, std::size_t own) -> Result<void> {
          auto dealer = MultiDealer::create(sessions, own, kFewBits);
          if (!dealer) return dealer.error();
          auto masks = InputMasks::make(**dealer, 1);
          if (!masks) return masks.error();
          if (own == 0) in_at = sessions[1]->channel().sent();
          const Bytes share(1, static_cast<std::uint8_t>(own));
          auto label = masks->input(**dealer, share);
          if (!label) return label.error();
          Bytes opened(1);
          if (own == 0) out_at = sessions[1]->channel().sent();
          if (auto done = (*dealer)->open(*label, opened); !done) return done;
          if (auto good = (*dealer)->check(); !good) return good;
          out[own] = opened;
          return {};
        },
        changes);
  };
  ASSERT_TRUE(body({}).ok());
  for (const Bytes& one : out) EXPECT_EQ(one, Bytes(1, 0 ^ 1 ^ 2));
  out = {};
  Change change{in_at, 0x40};
  change.more = {{out_at, 0x40}};
  expect_both_end(body({{{0, 2}, change}}), "opened other values");
  EXPECT_TRUE(out[1].empty() && out[2].empty());
}

// What is expected is put together before the check, when there is much of it.
TEST(LutMulti, AWrongOpeningOfLongAgoEndsTheCheck) {
  for (const bool wrong : {false, true}) {
    const ManyOutcome outcome =
        with_multi_dealers(3, [&](Dealer& dealer, std::size_t own) -> Result<void> {
          for (std::size_t k = 0; k < 2 * InsideMulti::kFoldedAt; ++k) {
            dealer.expect(Label{wrong && own == 0 && k == 5, 0});
            std::uint8_t octet = 0;
            if (k % 4096 == 0)
              if (auto done = dealer.exchange({&octet, 1}); !done) return done;
          }
          return dealer.check();
        });
    EXPECT_EQ(outcome.ok(), !wrong) << outcome.first();
  }
}

// Else tables of a dealer that has gone would serve by another one, unchecked.
TEST(LutMulti, ADealerThatGoesUncheckedEndsItsSessions) {
  for (const bool checked : {true, false}) {
    const ManyOutcome outcome =
        with_many_sessions(3, [&](const Sessions& sessions, std::size_t own) -> Result<void> {
          {
            auto dealer = MultiDealer::create(sessions, own, kFewBits);
            if (!dealer) return dealer.error();
            std::uint8_t octet = 0;
            if (auto done = (*dealer)->exchange({&octet, 1}); !done) return done;
            if (checked)
              if (auto good = (*dealer)->check(); !good) return good;
          }
          return sessions[0]->stands();
        });
    EXPECT_EQ(outcome.ok(), checked) << outcome.first();
  }
}

// A commitment that is another one towards one party.
TEST(LutMulti, WhoCommitsToTwoThingsIsFound) {
  std::uint64_t at = 0;
  const auto body = [&](const Changes& changes) {
    return with_many_sessions(
        3,
        [&](const Sessions& sessions, std::size_t own) -> Result<void> {
          const auto dealer = InsideMulti::dealer(sessions, own);
          if (own == 0) at = sessions[0]->channel().sent();
          auto coins = dealer->coins();
          return coins ? Result<void>() : coins.error();
        },
        changes);
  };
  ASSERT_TRUE(body({}).ok());
  expect_both_end(body({{{0, 1}, Change{at, 1}}}), "told other things");
}

// Coins that one party only repeats would be 0.
TEST(LutMulti, WhoRepeatsWhatAnotherCommitsToIsFound) {
  const ManyOutcome outcome =
      with_multi_dealers(2, [&](Dealer& dealer, std::size_t own) -> Result<void> {
        if (own == 1) {
          auto coins = dealer.coins();
          return coins ? Result<void>() : coins.error();
        }
        for (const std::size_t octets : {32, 32, 48}) {  // commitment, echo, opening
          Bytes heard(octets);
          if (auto got = dealer.session().channel().read(heard); !got) return got;
          if (auto sent = dealer.session().channel().write(heard); !sent) return sent;
        }
        return {};
      });
  ASSERT_TRUE(outcome.error[1].has_value());
  EXPECT_NE(outcome.error[1]->find("another value than it committed to"), std::string::npos);
}

}  // namespace
}  // namespace tkdc::lut
