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
  TimeHistogram microseconds;
  std::uint64_t claims = 0;
};

class CheckTimes {
 public:
  void add(std::uint64_t claims, std::chrono::nanoseconds took) {
    microseconds_.add(in_microseconds(took));
    claims_.add(claims);
  }
  void add_to(CheckTotals& totals) const {
    microseconds_.add_to(totals.microseconds);
    totals.claims += claims_.get();
  }

 private:
  Counted<TimeHistogram> microseconds_;
  OneWriterCount claims_;
};

}  // namespace tkdc
