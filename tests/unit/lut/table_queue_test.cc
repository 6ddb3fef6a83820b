// SPDX-License-Identifier: Apache-2.0
// Tables in batches: lookups over their borders, what is left and kept, what is refused.
#include "lut/table_queue.h"

#include <optional>
#include <type_traits>

#include "lut/cts.h"
#include "lut/lut_parties.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

void expect_refused(TableQueue& queue, Dealer& dealer, std::size_t count, const char* words) {
  const std::uint64_t before = dealer.session().channel().sent();
  Labels octets(count);
  const auto refused = queue.look_up(dealer, octets);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(words), std::string::npos) << refused.error().message;
  EXPECT_EQ(dealer.session().channel().sent(), before) << "a word was said";
}

TEST(LutTableQueue, LooksUpOverTheBordersOfBatches) {
  for (const SboxWay way : {SboxWay::kForward, SboxWay::kInverse}) {
    constexpr std::size_t kBatches[] = {24, 7, 33}, kInAll = 64;
    Looked out;
    const Outcome outcome = with_dealers([&](Dealer& dealer, int p) -> Result<void> {
      out.labels.part[p] = dealer.octet_part();
      TableQueue queue(dealer.session(), way);
      for (const std::size_t count : kBatches)
        if (auto made = queue.make(dealer, count); !made) return made;
      EXPECT_EQ(queue.left(), kInAll);
      EXPECT_EQ(queue.octets(), kInAll * NormTables::kLabels * kLabelBytes);
      Labels octets(kInAll);
      for (std::size_t k = 0; k < kInAll; ++k)
        octets[k] = dealer.multiple(static_cast<std::uint8_t>(k));
      // Within a batch, over all of them, and the last one's rest.
      std::size_t first = 0;
      for (const std::size_t some : {20, 16, 28}) {
        if (auto done = queue.look_up(dealer, std::span(octets).subspan(first, some)); !done)
          return done;
        first += some;
        EXPECT_EQ(queue.left(), kInAll - first);
      }
      EXPECT_EQ(queue.octets(), 0u) << "batches that have served are gone";
      expect_refused(queue, dealer, 1, "only 0 tables left");
      if (auto good = dealer.check(); !good) return good;
      out.labels.of[p] = std::move(octets);
      return {};
    });
    ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
    out.expect_right(kInAll, way == SboxWay::kForward ? aes_sbox() : aes_inverse_sbox());
  }
}

TEST(LutTableQueue, MoreThanThereIsTakesNothing) {
  static_assert(!std::is_copy_constructible_v<TableQueue>);
  static_assert(!std::is_move_constructible_v<TableQueue>);
  const Outcome outcome = with_dealers([](Dealer& dealer, int) -> Result<void> {
    TableQueue queue(dealer.session(), SboxWay::kForward);
    for (const std::size_t count : {3, 2})
      if (auto made = queue.make(dealer, count); !made) return made;
    expect_refused(queue, dealer, 6, "6 wanted and only 5 tables left");
    EXPECT_EQ(queue.left(), 5u);
    Labels octets(5);
    if (auto done = queue.look_up(dealer, octets); !done) return done;
    return dealer.check();
  });
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
}

TEST(LutTableQueue, OfAnotherSessionIsRefused) {
  std::optional<TableQueue> kept[2];
  for (const bool first : {true, false}) {
    const Outcome outcome = with_dealers([&](Dealer& dealer, int p) -> Result<void> {
      if (first) {
        kept[p].emplace(dealer.session(), SboxWay::kForward);
        return kept[p]->make(dealer, 4);
      }
      expect_refused(*kept[p], dealer, 1, "another session");
      const std::uint64_t before = dealer.session().channel().sent();
      EXPECT_FALSE(kept[p]->make(dealer, 4)) << "of two sessions in one queue";
      EXPECT_EQ(dealer.session().channel().sent(), before);
      return dealer.session().stands();
    });
    EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
  }
}

}  // namespace
}  // namespace tkdc::lut
