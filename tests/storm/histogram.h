// SPDX-License-Identifier: Apache-2.0
// Latencies in microseconds, in HdrHistogram's log-linear buckets with three
// significant digits: 2,048 linear steps, then 1,024 for each power of two. Its
// percentiles are the highest value that falls into the bucket, as there, and
// its text form is what HdrHistogram's plotters read.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

namespace tkdc::storm {

class Histogram {
 public:
  static constexpr std::int64_t kMax_us = 3'600'000'000;  // an hour; more counts as that

  Histogram();
  void record(std::int64_t value_us, std::uint64_t times = 1);
  void add(const Histogram& other);
  void clear();

  std::uint64_t count() const { return total_; }
  std::int64_t min() const { return total_ == 0 ? 0 : min_; }
  std::int64_t max() const { return total_ == 0 ? 0 : highest_equivalent(index_of(max_)); }
  double mean() const;
  double deviation() const;
  // 0 when empty; percentile from 0 to 100.
  std::int64_t percentile(double percentile) const;
  // Values and the share of all that lie at or below them, in steps that halve
  // the distance to 100 % `ticks` times as HdrHistogram's own output does.
  struct Point {
    std::int64_t value_us;
    double quantile;
    std::uint64_t count;
  };
  std::vector<Point> distribution(int ticks = 5) const;
  // HdrHistogram's percentile distribution, in milliseconds.
  void write_hgrm(std::ostream& out) const;

  static std::size_t index_of(std::int64_t value);
  static std::int64_t lowest_equivalent(std::size_t index);
  static std::int64_t highest_equivalent(std::size_t index) {
    return lowest_equivalent(index + 1) - 1;
  }

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
  std::int64_t min_ = kMax_us;
  std::int64_t max_ = 0;
};

}  // namespace tkdc::storm
