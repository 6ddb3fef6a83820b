// SPDX-License-Identifier: Apache-2.0
#include "storm/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

namespace tkdc::storm {
namespace {

constexpr int kHalfBits = 10;  // 1,024: half of the 2,048 that three digits need
constexpr std::int64_t kHalf = std::int64_t{1} << kHalfBits;

}  // namespace

// Bucket b covers [1024 * 2^b, 2048 * 2^b) in steps of 2^b; b = 0 also what is below.
std::size_t Histogram::index_of(std::int64_t value) {
  auto bits = std::bit_width(static_cast<std::uint64_t>(value | (2 * kHalf - 1)));
  int bucket = bits - (kHalfBits + 1);
  return static_cast<std::size_t>((bucket << kHalfBits) + (value >> bucket));
}

std::int64_t Histogram::lowest_equivalent(std::size_t index) {
  auto bucket = static_cast<std::int64_t>(index >> kHalfBits) - 1;
  auto step = static_cast<std::int64_t>(index) & (kHalf - 1);
  if (bucket < 0) return step;
  return (step + kHalf) << bucket;
}

Histogram::Histogram() : counts_(index_of(kMax_us) + 1) {}

void Histogram::record(std::int64_t value_us, std::uint64_t times) {
  std::int64_t value = std::clamp<std::int64_t>(value_us, 0, kMax_us);
  counts_[index_of(value)] += times;
  total_ += times;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void Histogram::add(const Histogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  total_ += other.total_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

void Histogram::clear() {
  if (total_ == 0) return;
  std::fill(counts_.begin(), counts_.end(), 0);
  total_ = 0;
  min_ = kMax_us;
  max_ = 0;
}

double Histogram::mean() const {
  double sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] != 0)
      sum += static_cast<double>(counts_[i]) *
             static_cast<double>(lowest_equivalent(i) + highest_equivalent(i)) / 2;
  return total_ == 0 ? 0 : sum / static_cast<double>(total_);
}

double Histogram::deviation() const {
  double middle = mean(), sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] != 0) {
      double off = static_cast<double>(lowest_equivalent(i) + highest_equivalent(i)) / 2 - middle;
      sum += static_cast<double>(counts_[i]) * off * off;
    }
  return total_ == 0 ? 0 : std::sqrt(sum / static_cast<double>(total_));
}

std::int64_t Histogram::percentile(double percentile) const {
  if (total_ == 0) return 0;
  double wanted = std::clamp(percentile, 0.0, 100.0) / 100 * static_cast<double>(total_);
  auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(wanted - 1e-9)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return highest_equivalent(i);
  }
  return max();
}

std::vector<Histogram::Point> Histogram::distribution(int ticks) const {
  std::vector<Point> points;
  if (total_ == 0) return points;
  double next = 0;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size() && seen < total_; ++i) {
    if (counts_[i] == 0) continue;
    seen += counts_[i];
    double reached = static_cast<double>(seen) / static_cast<double>(total_);
    while (next <= reached && next < 1) {
      points.push_back({highest_equivalent(i), next, seen});
      double halvings = std::floor(std::log2(1 / (1 - next))) + 1;
      next += 1 / (ticks * std::exp2(halvings));
      if (seen == total_) break;
    }
  }
  points.push_back({max(), 1, total_});
  return points;
}

void Histogram::write_hgrm(std::ostream& out) const {
  char line[160];
  std::snprintf(line, sizeof line, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
                "1/(1-Percentile)");
  out << line;
  for (const Point& point : distribution()) {
    double value = static_cast<double>(point.value_us) / 1000;
    auto count = static_cast<unsigned long long>(point.count);
    if (point.quantile < 1)
      std::snprintf(line, sizeof line, "%12.3f %2.12f %10llu %14.2f\n", value, point.quantile,
                    count, 1 / (1 - point.quantile));
    else
      std::snprintf(line, sizeof line, "%12.3f %2.12f %10llu\n", value, point.quantile, count);
    out << line;
  }
  std::snprintf(line, sizeof line,
                "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n"
                "#[Max     = %12.3f, Total count    = %12llu]\n",
                mean() / 1000, deviation() / 1000, static_cast<double>(max()) / 1000,
                static_cast<unsigned long long>(total_));
  out << line << "#[Buckets = " << index_of(kMax_us) / kHalf << ", SubBuckets     = " << 2 * kHalf
      << "]\n";
}

}  // namespace tkdc::storm
