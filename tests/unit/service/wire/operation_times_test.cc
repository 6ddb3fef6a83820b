// SPDX-License-Identifier: Apache-2.0
#include "service/wire/operation_times.h"

#include <gtest/gtest.h>

#include "service/wire/times_json.h"

namespace tkdc {
namespace {

using std::chrono::microseconds;

template <class Totals>
void expect_bounds_end_their_bucket() {
  for (std::size_t k = 0; k < Totals::kBounds; ++k) {
    EXPECT_EQ(Totals::bucket_of(Totals::bound(k)), k);
    EXPECT_EQ(Totals::bucket_of(Totals::bound(k) + 1), k + 1);
  }
  EXPECT_EQ(Totals::bucket_of(0), 0u);
  EXPECT_EQ(Totals::bucket_of(~std::uint64_t{0}), Totals::kBounds);
}

TEST(OperationTimes, ABoundBelongsToTheBucketThatItEnds) {
  expect_bounds_end_their_bucket<TimeHistogram>();
  expect_bounds_end_their_bucket<RoundHistogram>();
  expect_bounds_end_their_bucket<ByteHistogram>();
}

TEST(OperationTimes, AreCountedByOperation) {
  OperationTimes first, second;
  first.add(TKDC_OP_SEAL, microseconds(700), 60, 900);
  first.add(TKDC_OP_SEAL, microseconds(800), 61, 9001);
  first.add(TKDC_OP_OPEN, std::chrono::hours(1), 1, 2);
  second.add(TKDC_OP_SEAL, microseconds(100), 1, 1);
  second.add(0xff, microseconds(100), 1, 1);
  second.add(TKDC_OP_LIST, microseconds(-5), 0, 0);
  OperationTotals totals;
  first.add_to(totals);
  second.add_to(totals);
  const nlohmann::json shown = times_json(totals);
  EXPECT_EQ(shown["bounds_ms"].size(), TimeHistogram::kBounds);
  EXPECT_EQ(shown["bounds_ms"][0], 0.5);
  EXPECT_EQ(shown["bounds_rounds"].back(), 32'768);
  EXPECT_EQ(shown["bounds_message_bytes"][0], 4'096);
  EXPECT_EQ(shown["by"].size(), 3u) << shown;
  const nlohmann::json& seal = shown["by"]["seal"];
  EXPECT_EQ(seal["counts"][0], 1);
  EXPECT_EQ(seal["counts"][1], 2);
  EXPECT_EQ(seal["rounds"], 122);
  EXPECT_EQ(seal["rounds_counts"][0], 1);
  EXPECT_EQ(seal["rounds_counts"][6], 2) << "33 to 64";
  EXPECT_EQ(seal["message_bytes_counts"][0], 2);
  EXPECT_EQ(seal["message_bytes_counts"][2], 1);
  EXPECT_EQ(seal["message_bytes"], 9902);
  EXPECT_DOUBLE_EQ(seal["seconds"].get<double>(), 0.0016);
  EXPECT_EQ(shown["by"]["open"]["counts"].back(), 1);
  EXPECT_EQ(shown["by"]["list"]["counts"][0], 1);
}

}  // namespace
}  // namespace tkdc
