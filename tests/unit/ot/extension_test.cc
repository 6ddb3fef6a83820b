// SPDX-License-Identifier: Apache-2.0
// Base OTs, trees and the extension: what they give, and what a changed message of either party
// does. The sender is party 0.
#include "ot/extension.h"

#include "ot/correlated.h"

namespace tkdc::ot {
namespace {

TEST(BaseOt, GivesTheChosenKeyOnly) {
  constexpr std::size_t kCount = 19;
  Labels zero(kCount), one(kCount), chosen(kCount);
  std::vector<std::uint8_t> choices(kCount);
  for (std::size_t j = 0; j < kCount; ++j) choices[j] = j % 3 == 1;
  const Outcome outcome = run_parties(
      [&](Channel& channel) { return send_base(channel, kContext, zero, one); },
      [&](Channel& channel) { return receive_base(channel, kContext, choices, chosen); });
  ASSERT_TRUE(outcome.ok());
  for (std::size_t j = 0; j < kCount; ++j) {
    EXPECT_EQ(chosen[j], choices[j] == 0 ? zero[j] : one[j]);
    EXPECT_NE(zero[j], one[j]);
  }
  EXPECT_EQ(outcome.sent[0], 32 * kCount);
  EXPECT_EQ(outcome.sent[1], 64 * kCount);
}

TEST(BaseOt, OfAnotherContextHasOtherKeys) {
  Labels zero(4), one(4), chosen(4);
  const std::vector<std::uint8_t> choices(4, 0);
  const Outcome outcome = run_parties(
      [&](Channel& channel) { return send_base(channel, kContext, zero, one); },
      [&](Channel& channel) { return receive_base(channel, Bytes{1}, choices, chosen); });
  ASSERT_TRUE(outcome.ok());
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NE(chosen[j], zero[j]);
}

// Each octet: either what was sent is no point, or no key of that OT fits any more.
TEST(BaseOt, EveryOctetChanged) {
  constexpr std::size_t kCount = 2;
  for (const int cheat : {0, 1})
    for (std::uint64_t at = 0; at < (cheat == 0 ? 32u : 64u); at += 3) {
      Labels zero(kCount), one(kCount), chosen(kCount);
      const std::vector<std::uint8_t> choices = {1, 0};
      const Outcome outcome = run_parties(
          [&](Channel& channel) { return send_base(channel, kContext, zero, one); },
          [&](Channel& channel) { return receive_base(channel, kContext, choices, chosen); }, cheat,
          {at});
      if (outcome.ok()) {
        EXPECT_NE(chosen[0], one[0]);
        EXPECT_NE(chosen[0], zero[0]);
        EXPECT_EQ(chosen[1], zero[1]);
      } else {
        EXPECT_NE(outcome.error[1 - cheat].value_or("").find("no point"), std::string::npos);
      }
    }
}

// The neutral element as S would make the receiver's key known.
TEST(BaseOt, RefusesTheNeutralElement) {
  Labels chosen(1);
  const std::vector<std::uint8_t> choices(1, 1);
  const Outcome outcome = run_parties(
      [&](Channel& channel) -> Result<void> {
        Bytes points(64);
        if (auto got = channel.read(points); !got) return got;
        return channel.write(Bytes(32));
      },
      [&](Channel& channel) { return receive_base(channel, kContext, choices, chosen); });
  EXPECT_NE(outcome.error[1].value_or("").find("no point"), std::string::npos);
}

class EachK : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Levels, EachK, testing::Range(kLeastLevels, kMostLevels + 1));

TEST_P(EachK, CorrelatesByEachKernel) {
  for (const Kernel* kernel : kernels())
    for (const bool checked : {false, true}) {
      CorrelatedRun run;
      run.options = {GetParam(), checked, kBlocksAtOnce, 1, kernel};
      run.counts = {1, 2048, 5000};
      if (kernel == kernel_reference()) run.counts = {100};
      Correlated out;
      ASSERT_TRUE(correlate(run, out).ok());
      std::size_t all = 0, ones = 0;
      for (const std::size_t rows : run.counts) all += rows;
      ASSERT_EQ(out.keys.size(), all);
      ASSERT_EQ(out.macs.size(), all);
      EXPECT_FALSE(misfit(out)) << kernel->name;
      for (const Label& mac : out.macs) ones += mac.colour();
      EXPECT_NEAR(static_cast<double>(ones), all / 2.0, 4 * std::sqrt(all));
    }
}

// One side by one kernel, the other by another: they have one wire format.
TEST(Extension, KernelsOfBothSidesMayDiffer) {
  std::mt19937_64 generator(5);
  const Label delta = random_delta(generator);
  const Keys keys(generator, delta);
  for (const Kernel* kernel : kernels()) {
    Correlated out{delta, {}, {}};
    ExtensionOptions mine, others;
    mine.batch_blocks = others.batch_blocks = kBlocksAtOnce;
    mine.kernel = kernel;
    others.kernel = kernel_reference();
    const Outcome outcome = run_parties(
        [&](Channel& channel) -> Result<void> {
          auto sender = ExtensionSender::create(channel, kContext, delta, keys.chosen, mine);
          if (!sender) return sender.error();
          return (*sender)->extend(300,
                                   [&](auto rows) { out.keys.assign(rows.begin(), rows.end()); });
        },
        [&](Channel& channel) -> Result<void> {
          auto receiver = ExtensionReceiver::create(channel, kContext, keys.zero, keys.one, others);
          if (!receiver) return receiver.error();
          return (*receiver)->extend(300,
                                     [&](auto rows) { out.macs.assign(rows.begin(), rows.end()); });
        });
    ASSERT_TRUE(outcome.ok());
    EXPECT_FALSE(misfit(out));
  }
}

TEST(Extension, BothWaysAtOnce) {
  std::mt19937_64 generator(6);
  for (const std::size_t in_flight : {0, 1, 2}) {
    Correlated ways[2] = {{random_delta(generator), {}, {}}, {random_delta(generator), {}, {}}};
    const Keys keys[2] = {Keys(generator, ways[0].delta), Keys(generator, ways[1].delta)};
    ExtensionOptions options;
    options.batch_blocks = kBlocksAtOnce;
    options.in_flight = in_flight;
    const auto party = [&](int p) {
      return [&, p](Channel& channel) -> Result<void> {
        std::unique_ptr<ExtensionSender> sender;
        std::unique_ptr<ExtensionReceiver> receiver;
        for (const int turn : {0, 1}) {
          if (turn == p) {
            auto made =
                ExtensionSender::create(channel, kContext, ways[p].delta, keys[p].chosen, options);
            if (!made) return made.error();
            sender = std::move(*made);
          } else {
            auto made = ExtensionReceiver::create(channel, kContext, keys[1 - p].zero,
                                                  keys[1 - p].one, options);
            if (!made) return made.error();
            receiver = std::move(*made);
          }
        }
        for (const std::size_t rows : {20'000, 10})
          if (auto done = extend_both(
                  *sender, *receiver, rows,
                  [&](auto r) { ways[p].keys.insert(ways[p].keys.end(), r.begin(), r.end()); },
                  [&](auto r) {
                    ways[1 - p].macs.insert(ways[1 - p].macs.end(), r.begin(), r.end());
                  });
              !done)
            return done;
        return {};
      };
    };
    ASSERT_TRUE(run_parties(party(0), party(1)).ok());
    for (const Correlated& way : ways) {
      EXPECT_EQ(way.keys.size(), 20'010u);
      EXPECT_FALSE(misfit(way));
    }
  }
}

// Where the messages of a run with one batch of 16 blocks stand, k = 4.
struct Places {
  static constexpr std::uint64_t kSums = 0, kProofs = kSums + kColumns * 32,
                                 kCorrections = kProofs + 32 * 64,
                                 kFolds = kCorrections + 31 * kBlocksAtOnce * kBlockBytes,
                                 kEnd = kFolds + (kColumns + 1) * 16;
};

Outcome changed(int cheat, std::uint64_t at, std::uint8_t with, std::uint64_t seed,
                Correlated& out) {
  CorrelatedRun run;
  run.options.batch_blocks = kBlocksAtOnce;
  run.cheat = cheat;
  run.change = {at, with};
  run.seed = seed;
  return correlate(run, out);
}

TEST(Extension, HonestRunHasTheLengthThatPlacesSay) {
  Correlated out;
  const Outcome outcome = changed(0, ~std::uint64_t{0}, 0, 1, out);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.sent[1], Places::kEnd);
  EXPECT_EQ(outcome.sent[0], 16u);  // the coefficients' seed
}

// A changed receiver is found, whatever Δ is, or has guessed all of a chunk of Δ: of 16 values one.
struct Rate {
  int aborts = 0, runs = 0, wrong = 0;
};
Rate rate_of(int cheat, std::uint64_t at, std::uint8_t with, int runs) {
  Rate rate;
  for (int r = 0; r < runs; ++r) {
    Correlated out;
    const Outcome outcome = changed(cheat, at, with, 1000 + static_cast<std::uint64_t>(r), out);
    ++rate.runs;
    if (!outcome.ok())
      ++rate.aborts;
    else if (misfit(out))
      ++rate.wrong;
    // Nothing of a batch whose check failed has been handed out.
    EXPECT_TRUE(!outcome.error[0] || out.keys.empty());
  }
  return rate;
}

TEST(Extension, CorrectionsChangedAreFoundUnlessAChunkIsGuessed) {
  constexpr int kRuns = 24;
  int aborts = 0, runs = 0;
  for (const std::uint64_t chunk : {0, 15, 30})
    for (const std::uint64_t octet : {0, 100, 255}) {
      const Rate rate = rate_of(
          1, Places::kCorrections + chunk * kBlocksAtOnce * kBlockBytes + octet, 0x10, kRuns);
      EXPECT_EQ(rate.wrong, 0);  // where Δ's chunk is zero, the change meant nothing
      aborts += rate.aborts;
      runs += rate.runs;
    }
  // 15 of 16 in the mean; the deviation is below 4 of 216.
  EXPECT_NEAR(aborts, runs * 15 / 16.0, 16);
}

// An error in a chunk's corrections passes with folds that are right for one α, here of a row that
// the check uses up: where that is the chunk of Δ, always; for each other α, never.
TEST(Extension, AnErrorPassesForTheAlphaThatWasGuessedAndForNoOther) {
  constexpr std::uint64_t kChunk = 9, kOctet = 3;
  for (std::uint64_t run = 0; run < 24; ++run) {
    std::mt19937_64 generator(2000 + run);
    const std::uint64_t alpha = random_delta(generator).low >> (4 * kChunk) & 15;
    const std::uint64_t guess = run % 2 == 0 ? alpha : alpha ^ (1 + run % 15);
    Change change{Places::kCorrections + (kChunk - 1) * kBlocksAtOnce * kBlockBytes + kOctet, 4};
    for (std::uint64_t bit = 0; bit < 4; ++bit)
      if ((guess >> bit & 1) != 0)
        change.more.emplace_back(Places::kFolds + 16 * (4 * kChunk + bit) + kOctet, 4);
    CorrelatedRun correlated;
    correlated.options.batch_blocks = kBlocksAtOnce;
    correlated.cheat = 1;
    correlated.change = change;
    correlated.seed = 2000 + run;
    Correlated out;
    EXPECT_EQ(correlate(correlated, out).ok(), guess == alpha) << alpha << " " << guess;
    EXPECT_FALSE(misfit(out));
  }
}

// The coefficients' seed must not be known before corrections are: a receiver that sends none gets
// none.
TEST(Extension, TheSeedComesAfterTheCorrections) {
  std::mt19937_64 generator(7);
  const Label delta = random_delta(generator);
  const Keys keys(generator, delta);
  const Outcome outcome = run_parties(
      [&](Channel& channel) -> Result<void> {
        auto sender = ExtensionSender::create(channel, kContext, delta, keys.chosen, {});
        if (!sender) return sender.error();
        return (*sender)->extend(10, [](auto) {});
      },
      [&](Channel& channel) -> Result<void> {
        auto seeds = grow_trees(channel, kContext, Chunks(4), keys.zero, keys.one);
        return seeds ? Result<void>() : seeds.error();
      });
  EXPECT_TRUE(outcome.error[0]);
  EXPECT_EQ(outcome.sent[0], 0u);
}

TEST(Extension, FoldsChangedAreAlwaysFound) {
  for (const std::uint64_t octet : {0, 15, 16, 1000, 2047}) {
    const Rate rate = rate_of(1, Places::kFolds + octet, 1, 6);
    EXPECT_EQ(rate.aborts, rate.runs) << octet;
  }
  // The folded choices: with all of Δ zero, nobody would see it.
  const Rate rate = rate_of(1, Places::kEnd - 16, 1, 6);
  EXPECT_EQ(rate.aborts, rate.runs);
}

// A sum is one of two for a column, and the sender opens the one that its Δ chose.
TEST(Extension, TreesChangedAreFoundWhereTheirSumIsOpened) {
  for (const std::uint64_t octet : {0, 16, 32 * 5, 32 * 5 + 31, 32 * 127 + 31}) {
    int opened = 0;
    for (std::uint64_t run = 0; run < 16; ++run) {
      Correlated out;
      const Outcome outcome = changed(1, Places::kSums + octet, 0x80, 1000 + run, out);
      const std::uint64_t column = octet / 32, which = octet % 32 / 16;
      const bool found = base_choice(out.delta, column) == which;
      EXPECT_EQ(!outcome.ok(), found) << octet;
      EXPECT_TRUE(outcome.ok() ? !misfit(out) : out.keys.empty());
      opened += found;
    }
    // Bit 0 of Δ is 1; of others both are seen.
    EXPECT_EQ(octet < 32 ? opened % 16 : opened == 0 || opened == 16, 0) << octet;
  }
  for (const std::uint64_t octet : {0, 31, 32, 63}) {
    const Rate rate = rate_of(1, Places::kProofs + octet, 1, 4);
    EXPECT_EQ(rate.aborts, rate.runs) << octet;
  }
}

// What the sender says: a seed. The receiver then folds by another one.
TEST(Extension, TheSeedChangedIsFoundByTheSenderItself) {
  for (const std::uint64_t octet : {0, 15}) {
    const Rate rate = rate_of(0, octet, 1, 4);
    EXPECT_EQ(rate.aborts, rate.runs);
  }
}

// Without its check a changed column would go unseen: the control.
TEST(Extension, SemiHonestTakesWrongCorrections) {
  CorrelatedRun run;
  run.options.batch_blocks = kBlocksAtOnce;
  run.options.checked = false;
  run.cheat = 1;
  run.change = {Places::kCorrections + 17, 0xff};
  Correlated out;
  ASSERT_TRUE(correlate(run, out).ok());
  EXPECT_TRUE(misfit(out));
}

TEST(Extension, HasEndedAfterAFailedCheck) {
  std::mt19937_64 generator(8);
  const Label delta = random_delta(generator);
  const Keys keys(generator, delta);
  ExtensionOptions options;
  options.batch_blocks = kBlocksAtOnce;
  const Outcome outcome = run_parties(
      [&](Channel& channel) -> Result<void> {
        auto sender = ExtensionSender::create(channel, kContext, delta, keys.chosen, options);
        if (!sender) return sender.error();
        const auto nothing = [](std::span<Label>) { FAIL() << "rows of a failed check"; };
        auto first = (*sender)->extend(10, nothing);
        EXPECT_FALSE(first.ok());
        return (*sender)->extend(10, nothing);
      },
      [&](Channel& channel) -> Result<void> {
        auto receiver = ExtensionReceiver::create(channel, kContext, keys.zero, keys.one, options);
        if (!receiver) return receiver.error();
        return (*receiver)->extend(10, [](auto) {});
      },
      1, {Places::kFolds, 1});
  EXPECT_NE(outcome.error[0].value_or("").find("has ended"), std::string::npos);
}

}  // namespace
}  // namespace tkdc::ot
