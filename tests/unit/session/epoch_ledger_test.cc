// SPDX-License-Identifier: Apache-2.0
// The day's allowance of nonce epochs, by clocks that a test sets.
#include "session/epoch_ledger.h"

#include <gtest/gtest.h>

#include <optional>

#include "memory_store.h"

namespace tkdc {
namespace {

constexpr std::uint32_t kPerDay = 864;  // one comes back every 100 s
constexpr std::uint64_t kDayS = 86'400;

class EpochLedgerTest : public testing::Test {
 protected:
  EpochLedgerTest() { restart(); }

  void restart() {
    running_s_ = 5;
    SessionAdvice advice;
    advice.allowance_spent = "have patience";
    ledger_.emplace(store_, kPerDay, std::move(advice),
                    EpochLedger::Clocks{[this] { return wall_s_; }, [this] { return running_s_; }});
  }
  void pass(std::uint64_t seconds) {
    wall_s_ += seconds;
    running_s_ += seconds;
  }
  // How many starts of `step` epochs are granted one after the other.
  std::uint32_t starts(std::uint32_t step = 1) {
    for (std::uint32_t n = 0;; ++n) {
      const std::uint32_t epoch = store_.epochs().reserved + step;
      if (!ledger_->reserve(epoch, 0).ok()) return n;
      EXPECT_TRUE(ledger_->begin(epoch).ok());
    }
  }

  MemoryStore store_;
  std::uint64_t wall_s_ = 1'800'000'000, running_s_ = 0;
  std::optional<EpochLedger> ledger_;
};

TEST_F(EpochLedgerTest, ADaysAllowanceThenOneAtATime) {
  EXPECT_EQ(starts(), kPerDay);
  EXPECT_EQ(ledger_->report().spent, kPerDay);
  EXPECT_EQ(ledger_->report().left, kMaxEpoch - kPerDay);
  pass(99);
  EXPECT_EQ(starts(), 0u);
  pass(1);
  EXPECT_EQ(starts(), 1u);
  pass(kDayS / 2);
  EXPECT_EQ(starts(), kPerDay / 2);
  pass(30 * kDayS);
  EXPECT_EQ(starts(), kPerDay) << "idle days are not saved up";
}

TEST_F(EpochLedgerTest, TheRefusalSaysWhatWhyAndWhen) {
  starts();
  const auto refused = ledger_->reserve(kPerDay + 37, 0);
  ASSERT_FALSE(refused.ok());
  for (const char* part :
       {"use up 37 nonce epochs", "allowance of 864 a day", "within 62 min; have patience"})
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  EXPECT_EQ(store_.epochs().reserved, kPerDay) << "nothing was written";
}

// A server that pushes by the whole lead that is believed gets fewer starts, not more epochs.
TEST_F(EpochLedgerTest, BigStepsCostWhatTheyUseUp) {
  EXPECT_EQ(starts(37), kPerDay / 37);
  pass(10 * kDayS);
  EXPECT_EQ(starts(37), kPerDay / 37);
}

TEST_F(EpochLedgerTest, WhatIsReservedAlreadyIsFree) {
  starts(37);
  MemoryStore& store = store_;
  Epochs epochs = store.epochs();
  const std::uint32_t used = epochs.used;
  epochs.reserved += 3;
  ASSERT_TRUE(store.set_epochs(epochs).ok());
  pass(0);
  EXPECT_TRUE(ledger_->reserve(used + 3, 0).ok());
  EXPECT_FALSE(ledger_->reserve(used, 0).ok()) << "used before";
}

TEST_F(EpochLedgerTest, CatchingUpWithTwoOthersIsFree) {
  EXPECT_TRUE(ledger_->reserve(50'001, 50'000).ok());
  EXPECT_EQ(ledger_->report().spent, 1u);
  EXPECT_FALSE(ledger_->reserve(60'001, 50'001).ok()) << "what one alone claims is not";
}

TEST_F(EpochLedgerTest, ARestartForgetsNothing) {
  starts();
  restart();
  EXPECT_EQ(starts(), 0u);
  wall_s_ += 1'000;  // in which it did not run
  restart();
  EXPECT_EQ(starts(), 10u);
}

TEST_F(EpochLedgerTest, AClockSetBackGivesNothingBackAndStopsNothingForGood) {
  starts();
  wall_s_ -= 40 * kDayS;
  restart();
  EXPECT_EQ(starts(), 0u);
  // Its own running time still counts.
  pass(100);
  EXPECT_EQ(starts(), 1u);
  // Nor when the clock is right again: only what is later than ever before counts.
  wall_s_ += 40 * kDayS - 100;
  restart();
  EXPECT_EQ(starts(), 0u);
}

TEST_F(EpochLedgerTest, AClockThatJumpsAheadGivesADayOnceAndOnlyOverARestart) {
  starts();
  wall_s_ += 400 * kDayS;
  EXPECT_EQ(starts(), 0u) << "the running time counts";
  restart();
  EXPECT_EQ(starts(), kPerDay);
  wall_s_ -= 400 * kDayS;
  restart();
  wall_s_ += 399 * kDayS;
  restart();
  EXPECT_EQ(starts(), 0u);
}

TEST_F(EpochLedgerTest, WhatCannotBeWrittenIsNotReserved) {
  store_.epoch_failure = "store: no space";
  EXPECT_FALSE(ledger_->reserve(1, 0).ok());
  EXPECT_EQ(ledger_->report().spent, 0u);
  store_.epoch_failure = "";
  EXPECT_TRUE(ledger_->reserve(1, 0).ok());
}

// docs/protocols/03-session.md: two honest servers, each with its own allowance, and the first
// day's in advance.
TEST(EpochArithmetic, EpochsLast254DaysOfAttack) {
  const std::uint64_t a_day = 2 * EpochLedger::kPerDay;
  EXPECT_GE(kMaxEpoch - a_day, 254 * a_day);
}

}  // namespace
}  // namespace tkdc
