// SPDX-License-Identifier: Apache-2.0
// What happened: totals, and one row for each second.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "storm/histogram.h"
#include "storm/schedule.h"

namespace tkdc::storm {

enum class Outcome {
  kOk,       // a ticket (and the right one, where the reply was checked)
  kRefused,  // a wrong password was refused, as it must be
  kError,    // a KRB-ERROR that nothing asked for
  kWrong,    // malformed, or not what was asked for: never to be tolerated
  kLost,     // no answer in time
  kUnsent,   // its moment passed by more than the timeout before it could be sent
};

struct Counts {
  std::uint64_t sent = 0, ok = 0, refused = 0, errors = 0, wrong = 0, lost = 0, unsent = 0;
  std::uint64_t retransmits = 0, checked = 0, strays = 0, broken_connections = 0, noise = 0;
  std::uint64_t finished() const { return ok + refused + errors + wrong + lost; }
};

struct Second {
  std::uint64_t number = 0;
  double rate = 0;  // that was asked for; 0 in the closed model
  Counts counts;
  std::uint64_t in_flight = 0;
  std::int64_t p50_us = 0, p99_us = 0, max_us = 0;
};

class Recorder {
 public:
  Counts& counts() { return second_.counts; }  // of the running second
  void finish(Outcome outcome, Nanoseconds intended, Nanoseconds now);
  void error(std::int32_t code) { ++errors_[code]; }
  void wrong(const std::string& what);
  // Closes the second; the row stays in seconds().
  const Second& tick(double rate, std::uint64_t in_flight);

  // Whole run, running second included.
  Counts totals() const;
  const Histogram& latency() const { return latency_; }
  const Histogram& refusals() const { return refusals_; }
  const std::vector<Second>& seconds() const { return seconds_; }
  const std::map<std::int32_t, std::uint64_t>& errors() const { return errors_; }
  const std::map<std::string, std::uint64_t>& wrongs() const { return wrongs_; }
  double duration_s = 0;  // of the part that was measured

 private:
  Histogram latency_, refusals_, this_second_;
  Second second_;
  Counts totals_;
  std::vector<Second> seconds_;
  std::map<std::int32_t, std::uint64_t> errors_;
  std::map<std::string, std::uint64_t> wrongs_;
};

Counts& operator+=(Counts& a, const Counts& b);

}  // namespace tkdc::storm
