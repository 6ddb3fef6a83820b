// SPDX-License-Identifier: Apache-2.0
// How often a lane's messages were verified, how many claims that was about, and how long those who
// waited for it did (docs/protocols/12-verification.md). In the buckets of operations' times.
//
// One thread adds, any thread reads. Public.
#pragma once

#include "service/wire/operation_times.h"

namespace tkdc {

// What was counted, at one moment. Of batches that were found good.
struct CheckTotals {
  std::array<std::uint64_t, OperationTotals::kBuckets> counts{};
  std::uint64_t microseconds = 0, claims = 0;
};

class CheckTimes {
 public:
  void add(std::uint64_t claims, std::chrono::nanoseconds took) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    const std::uint64_t microseconds = us < 0 ? 0 : static_cast<std::uint64_t>(us);
    counts_[OperationTotals::bucket_of(microseconds)].add(1);
    microseconds_.add(microseconds);
    claims_.add(claims);
  }
  void add_to(CheckTotals& totals) const {
    for (std::size_t k = 0; k < counts_.size(); ++k) totals.counts[k] += counts_[k].get();
    totals.microseconds += microseconds_.get();
    totals.claims += claims_.get();
  }

 private:
  std::array<OneWriterCount, OperationTotals::kBuckets> counts_;
  OneWriterCount microseconds_, claims_;
};

}  // namespace tkdc
