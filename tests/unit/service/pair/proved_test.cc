// SPDX-License-Identifier: Apache-2.0
// What it costs a realm if somebody sends tickets that he made up.
#include "service/pair/pair_proved.h"

#include "service/pair/pair_operations.h"
#include "service/pair/pair_wishes.h"
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {
namespace {

using std::chrono::seconds;

TEST(PairProvedTest, WhatNobodyHasSealedWaitsForItsTurn) {
  PairProved proved(1'000'000);
  auto now = PairProved::Clock::now();
  EXPECT_TRUE(proved.may_try(900'000, now));
  EXPECT_FALSE(proved.may_try(900'000, now + seconds(30)));
  EXPECT_TRUE(proved.may_try(900'000, now + seconds(45)));
  EXPECT_TRUE(proved.may_try(1'000'000, now + seconds(3600)));
  EXPECT_FALSE(proved.may_try(1, now + seconds(3600))) << "no more than the burst is kept";
  proved.note("one");
  EXPECT_TRUE(proved.has("one"));
  proved.always("few");
  for (std::size_t k = 0; k < PairProved::kMostKinds; ++k) proved.note(std::to_string(k));
  EXPECT_FALSE(proved.has("one")) << "the oldest goes";
  EXPECT_TRUE(proved.has(std::to_string(PairProved::kMostKinds - 1)));
  EXPECT_TRUE(proved.has("few"));
}

TEST(PairProvedTest, AJobThatIsNamedAgainCountsOnce) {
  PairProved proved(150'000);
  for (int k = 0; k < 10; ++k) EXPECT_TRUE(proved.may_try(JobName{1, 2, 3}, 100'000));
  EXPECT_FALSE(proved.may_try(JobName{1, 2, 4}, 100'000));
  EXPECT_FALSE(proved.may_try(JobName{1, 2, 4}, 100'000));
}

// Where made-up tickets have used all up, first timestamps and challenges are served.
TEST(PairProvedTest, FirstLoginsDoNotWaitForTheBudget) {
  PairProved proved(0);
  prove_what_all_send(proved);
  for (const char* kind : {"answer open18:56", "answer open20:68", "answer prf-plus18",
                           "answer prf-plus20:1", "answer fast-encryption20:54"}) {
    EXPECT_TRUE(proved.has(kind)) << kind;
    EXPECT_TRUE(PairCircuits().look_up(kind).ok()) << kind;
  }
  EXPECT_FALSE(proved.has("answer open18:57"));
  EXPECT_FALSE(proved.has("answer fast-encryption18:513"));
}

TEST(PairWishesTest, OneThatIsPushedOutIsNoWish) {
  PairWishes wishes;
  auto now = PairWishes::Clock::now();
  for (std::size_t k = 0; k <= PairWishes::kMostKinds; ++k)
    wishes.note(std::to_string(k), now + std::chrono::milliseconds(k));
  EXPECT_FALSE(wishes.has("0"));
  EXPECT_TRUE(wishes.has(std::to_string(PairWishes::kMostKinds)));
}

TEST(PairProvedTest, MadeUpTicketsOfNewLengthsAreRefusedAndOthersServed) {
  TwoServices two(512, [](JobServiceOptions& options) {
    options.pair_ahead = false;
    options.pair_unproved_ands = 40'000;
  });
  const Bytes key = random_octets(16);
  test::Krb5Client whole(17, key);
  const KeyRef ref = two.make_key("alice@R", 17, key);
  const auto forged = [&](std::size_t bytes) {
    return two.ask({TKDC_OP_OPEN, ref, 1, {}, random_octets(bytes)}).both();
  };
  EXPECT_EQ(forged(44), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(forged(45), TKDC_STATUS_LIMIT);
  EXPECT_EQ(forged(46), TKDC_STATUS_LIMIT);
  // A length that was sealed here is served, forged or not.
  const Bytes plain = random_octets(20);
  const auto sealed = two.ask({TKDC_OP_SEAL, ref, 3, {}, plain});
  ASSERT_EQ(sealed.both(), TKDC_STATUS_OK) << sealed.message[0];
  EXPECT_EQ(whole.open(3, sealed.output), plain);
  EXPECT_EQ(two.ask({TKDC_OP_OPEN, ref, 1, {}, whole.seal(1, plain)}).output, plain);
  EXPECT_EQ(forged(48), TKDC_STATUS_INTEGRITY);
}

}  // namespace
}  // namespace tkdc
