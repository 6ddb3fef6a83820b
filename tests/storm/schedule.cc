// SPDX-License-Identifier: Apache-2.0
#include "storm/schedule.h"

#include <algorithm>
#include <cmath>

namespace tkdc::storm {

OpenSchedule::OpenSchedule(double rate, Nanoseconds start, Nanoseconds end, bool poisson,
                           std::uint64_t clients, std::uint64_t first_client)
    : rate_(rate), start_(start), end_(end), next_(start), poisson_(poisson), clients_(clients),
      client_(first_client % clients) {
  if (poisson_) advance();
}

// Counted from the start, so that rounding never adds up.
void OpenSchedule::advance() {
  if (poisson_)
    elapsed_ += std::exponential_distribution<double>(rate_)(generator_);
  else
    elapsed_ = static_cast<double>(++number_) / rate_;
  next_ = start_ + static_cast<Nanoseconds>(std::llround(elapsed_ * kSecond));
}

std::optional<Demand> OpenSchedule::pop(Nanoseconds now) {
  if (next_ > now || next_ >= end_) return std::nullopt;
  Demand demand{next_, client_};
  client_ = (client_ + 1) % clients_;
  advance();
  return demand;
}

std::optional<Nanoseconds> OpenSchedule::next() const {
  if (next_ >= end_) return std::nullopt;
  return next_;
}

std::uint64_t OpenSchedule::drop_before(Nanoseconds before) {
  std::uint64_t dropped = 0;
  while (pop(before - 1)) ++dropped;
  return dropped;
}

ClosedSchedule::ClosedSchedule(std::uint64_t users, Nanoseconds pause, Nanoseconds start,
                               Nanoseconds end, Nanoseconds spread)
    : pause_(pause), end_(end) {
  for (std::uint64_t i = 0; i < users; ++i)
    ready_.push_back(
        {start + static_cast<Nanoseconds>(static_cast<double>(spread) * static_cast<double>(i) /
                                          static_cast<double>(users)),
         i});
}

// The user asks now, not when the pause ended: a busy generator is a longer pause.
std::optional<Demand> ClosedSchedule::pop(Nanoseconds now) {
  if (ready_.empty() || ready_.front().intended > now || now >= end_) return std::nullopt;
  Demand demand{now, ready_.front().client};
  ready_.pop_front();
  return demand;
}

std::optional<Nanoseconds> ClosedSchedule::next() const {
  if (ready_.empty() || ready_.front().intended >= end_) return std::nullopt;
  return ready_.front().intended;
}

void ClosedSchedule::finished(std::uint64_t client, Nanoseconds now) {
  Demand demand{now + pause_, client};
  // Nearly always at the end; a first request that is spread far out may stand behind.
  auto place =
      std::upper_bound(ready_.begin(), ready_.end(), demand,
                       [](const Demand& a, const Demand& b) { return a.intended < b.intended; });
  ready_.insert(place, demand);
}

std::optional<double> Ramp::next() const {
  if (over_) return std::nullopt;
  return rate_;
}

void Ramp::judge(bool passed) {
  if (passed)
    best_ = std::max(best_, rate_);
  else
    worst_ = std::min(worst_.value_or(rate_), rate_);
  if (!worst_) {
    over_ = rate_ >= limit_;
    rate_ = std::min(rate_ * factor_, limit_);
    return;
  }
  if (refinements_-- <= 0) {
    over_ = true;
    return;
  }
  rate_ = best_ > 0 ? std::sqrt(best_ * *worst_) : *worst_ / factor_;
}

}  // namespace tkdc::storm
