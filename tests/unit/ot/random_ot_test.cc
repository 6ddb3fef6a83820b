// SPDX-License-Identifier: Apache-2.0
// Random and chosen OTs, and what both parties send, octet by octet, from fixed random numbers.
#include "ot/random_ot.h"

#include "garble/instances.h"
#include "ot/correlated.h"
#include "ot/fixed_random.h"

namespace tkdc::ot {
namespace {

// Both parties with an extension between them.
Outcome with_extension(std::uint64_t seed,
                       const std::function<Result<void>(Channel&, ExtensionSender&)>& send,
                       const std::function<Result<void>(Channel&, ExtensionReceiver&)>& receive) {
  std::mt19937_64 generator(seed);
  const Label delta = random_delta(generator);
  const Keys keys(generator, delta);
  ExtensionOptions options;
  options.batch_blocks = kBlocksAtOnce;
  return run_parties(
      [&](Channel& channel) -> Result<void> {
        auto made = ExtensionSender::create(channel, kContext, delta, keys.chosen, options);
        return made ? send(channel, **made) : made.error();
      },
      [&](Channel& channel) -> Result<void> {
        auto made = ExtensionReceiver::create(channel, kContext, keys.zero, keys.one, options);
        return made ? receive(channel, **made) : made.error();
      });
}

TEST(RandomOt, GivesOneOfTwoKeys) {
  constexpr std::size_t kCount = 3000;
  Labels zero, one, rows, got;
  const Outcome outcome = with_extension(
      1,
      [&](Channel& channel, ExtensionSender& sender) {
        return send_random(channel, sender, kCount, [&](auto of_zero, auto of_one) {
          zero.insert(zero.end(), of_zero.begin(), of_zero.end());
          one.insert(one.end(), of_one.begin(), of_one.end());
        });
      },
      [&](Channel& channel, ExtensionReceiver& receiver) {
        return receive_random(channel, receiver, kCount, [&](auto of_rows, auto keys) {
          rows.insert(rows.end(), of_rows.begin(), of_rows.end());
          got.insert(got.end(), keys.begin(), keys.end());
        });
      });
  ASSERT_TRUE(outcome.ok());
  ASSERT_EQ(got.size(), kCount);
  for (std::size_t j = 0; j < kCount; ++j) {
    EXPECT_EQ(got[j], rows[j].colour() == 0 ? zero[j] : one[j]);
    EXPECT_NE(zero[j], one[j]);
  }
}

TEST(RandomOt, HashesCountOnOverKeys) {
  std::mt19937_64 generator(2);
  const Label seed = random_label(generator), row = random_label(generator);
  const std::size_t around = garble::kTweaksPerKey + 3;
  const Labels rows(around, row);
  Labels all(around), parts(around);
  RowHash whole(seed, garble::fastest_kernel()), pieces(seed, *garble::kernel_reference());
  whole.hash(rows, all.data(), true);
  // The second half counts on where the first one ended, and a call that does not count changes
  // nothing.
  const std::size_t cut = garble::kTweaksPerKey - 5;
  RowHash again(seed, garble::fastest_kernel());
  again.hash(std::span(rows).first(cut), parts.data(), true);
  again.hash(std::span(rows).subspan(cut), parts.data() + cut, false);
  again.hash(std::span(rows).subspan(cut), parts.data() + cut, true);
  EXPECT_EQ(all, parts);
  Labels few(8);
  pieces.hash(std::span(rows).first(8), few.data(), true);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
  // One row under each number: no two alike, over the border too.
  std::sort(all.begin(), all.end(), [](const Label& a, const Label& b) {
    return std::pair(a.low, a.high) < std::pair(b.low, b.high);
  });
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(ChosenOt, GivesTheChosenMessage) {
  std::mt19937_64 generator(3);
  constexpr std::size_t kCount = 2500;
  Labels zero(kCount), one(kCount), got(kCount);
  std::vector<std::uint8_t> choices(kCount);
  for (std::size_t j = 0; j < kCount; ++j) {
    zero[j] = random_label(generator);
    one[j] = random_label(generator);
    choices[j] = generator() & 1;
  }
  const Outcome outcome = with_extension(
      3,
      [&](Channel& channel, ExtensionSender& sender) {
        return send_chosen(channel, sender, zero, one);
      },
      [&](Channel& channel, ExtensionReceiver& receiver) {
        return receive_chosen(channel, receiver, choices, got);
      });
  ASSERT_TRUE(outcome.ok());
  for (std::size_t j = 0; j < kCount; ++j) EXPECT_EQ(got[j], choices[j] == 0 ? zero[j] : one[j]);
}

// Base OTs, trees, an extension and chosen OTs.
Result<void> golden_sender(Channel& channel, unsigned k) {
  begin_fixed(1);
  std::mt19937_64 generator(9);
  const Label delta = random_delta(generator);
  std::vector<std::uint8_t> choices;
  for (std::size_t c = 0; c < kColumns; ++c) choices.push_back(base_choice(delta, c));
  Labels keys(kColumns), zero(300), one(300);
  if (auto got = receive_base(channel, kContext, choices, keys); !got) return got;
  ExtensionOptions options;
  options.k = k;
  options.batch_blocks = kBlocksAtOnce;
  auto made = ExtensionSender::create(channel, kContext, delta, keys, options);
  return made ? send_chosen(channel, **made, zero, one) : made.error();
}

Result<void> golden_receiver(Channel& channel, unsigned k) {
  begin_fixed(2);
  Labels zero(kColumns), one(kColumns), got(300);
  if (auto sent = send_base(channel, kContext, zero, one); !sent) return sent;
  ExtensionOptions options;
  options.k = k;
  options.batch_blocks = kBlocksAtOnce;
  auto made = ExtensionReceiver::create(channel, kContext, zero, one, options);
  if (!made) return made.error();
  return receive_chosen(channel, **made, std::vector<std::uint8_t>(300, 1), got);
}

// Changed octets are another protocol: two servers of one version only would still agree.
TEST(OtGolden, WhatBothSendIsAsCommitted) {
  const FixedRandom fixed;
  Hashes now;
  for (const unsigned k : {2u, 4u, 8u}) {
    const Outcome outcome = run_parties([&](Channel& c) { return golden_sender(c, k); },
                                        [&](Channel& c) { return golden_receiver(c, k); });
    ASSERT_TRUE(outcome.ok());
    for (const int p : {0, 1})
      now["k=" + std::to_string(k) + " " + std::to_string(p)] = outcome.hash[p];
  }
  compare_golden(TKDC_OT_WIRE_FORMAT_FILE, now);
}

}  // namespace
}  // namespace tkdc::ot
