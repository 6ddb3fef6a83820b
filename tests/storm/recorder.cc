// SPDX-License-Identifier: Apache-2.0
#include "storm/recorder.h"

namespace tkdc::storm {
namespace {

constexpr std::size_t kMaxKinds = 100;  // of wrong answers that are told apart

}  // namespace

Counts& operator+=(Counts& a, const Counts& b) {
  for (auto member : {&Counts::sent, &Counts::ok, &Counts::refused, &Counts::errors, &Counts::wrong,
                      &Counts::lost, &Counts::unsent, &Counts::retransmits, &Counts::checked,
                      &Counts::strays, &Counts::broken_connections, &Counts::noise})
    a.*member += b.*member;
  return a;
}

void Recorder::finish(Outcome outcome, Nanoseconds intended, Nanoseconds now) {
  std::int64_t latency_us = (now - intended) / 1000;
  Counts& c = second_.counts;
  switch (outcome) {
    case Outcome::kOk:
      ++c.ok;
      latency_.record(latency_us);
      this_second_.record(latency_us);
      break;
    case Outcome::kRefused:
      ++c.refused;
      refusals_.record(latency_us);
      break;
    case Outcome::kError: ++c.errors; break;
    case Outcome::kWrong: ++c.wrong; break;
    case Outcome::kLost: ++c.lost; break;
    case Outcome::kUnsent: ++c.unsent; break;
  }
}

void Recorder::wrong(const std::string& what) {
  if (wrongs_.size() < kMaxKinds || wrongs_.contains(what)) ++wrongs_[what];
}

const Second& Recorder::tick(double rate, std::uint64_t in_flight) {
  second_.rate = rate;
  second_.in_flight = in_flight;
  second_.p50_us = this_second_.percentile(50);
  second_.p99_us = this_second_.percentile(99);
  second_.max_us = this_second_.max();
  totals_ += second_.counts;
  seconds_.push_back(second_);
  std::uint64_t number = second_.number + 1;
  second_ = {};
  second_.number = number;
  this_second_.clear();
  return seconds_.back();
}

Counts Recorder::totals() const {
  Counts sum = totals_;
  sum += second_.counts;
  return sum;
}

}  // namespace tkdc::storm
