// SPDX-License-Identifier: Apache-2.0
#include "service/wire/operation_times.h"

#include <gtest/gtest.h>

#include "service/wire/times_json.h"

namespace tkdc {
namespace {

using std::chrono::microseconds;

TEST(OperationTimes, ABoundBelongsToTheBucketThatItEnds) {
  for (std::size_t k = 0; k < OperationTotals::kBounds; ++k) {
    const auto bound = static_cast<std::uint64_t>(OperationTotals::bound_ms(k) * 1000);
    EXPECT_EQ(OperationTotals::bucket_of(bound), k);
    EXPECT_EQ(OperationTotals::bucket_of(bound + 1), k + 1);
  }
  EXPECT_EQ(OperationTotals::bucket_of(0), 0u);
  EXPECT_EQ(OperationTotals::bucket_of(~std::uint64_t{0}), OperationTotals::kBounds);
}

TEST(OperationTimes, AreCountedByOperation) {
  OperationTimes first, second;
  first.add(TKDC_OP_SEAL, microseconds(700), 60, 900);
  first.add(TKDC_OP_SEAL, microseconds(800), 61, 901);
  first.add(TKDC_OP_OPEN, std::chrono::hours(1), 1, 2);
  second.add(TKDC_OP_SEAL, microseconds(100), 1, 1);
  second.add(0xff, microseconds(100), 1, 1);
  second.add(TKDC_OP_LIST, microseconds(-5), 0, 0);
  OperationTotals totals;
  first.add_to(totals);
  second.add_to(totals);
  const nlohmann::json shown = times_json(totals);
  EXPECT_EQ(shown["bounds_ms"].size(), OperationTotals::kBounds);
  EXPECT_EQ(shown["by"].size(), 3u) << shown;
  const nlohmann::json& seal = shown["by"]["seal"];
  EXPECT_EQ(seal["counts"][0], 1);
  EXPECT_EQ(seal["counts"][1], 2);
  EXPECT_EQ(seal["rounds"], 122);
  EXPECT_EQ(seal["message_bytes"], 1802);
  EXPECT_DOUBLE_EQ(seal["seconds"].get<double>(), 0.0016);
  EXPECT_EQ(shown["by"]["open"]["counts"].back(), 1);
  EXPECT_EQ(shown["by"]["list"]["counts"][0], 1);
}

}  // namespace
}  // namespace tkdc
