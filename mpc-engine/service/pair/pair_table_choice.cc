// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_table_choice.h"

#include <algorithm>

namespace tkdc {

void PairTableChoice::took(Time round_trip) {
  round_trips_.push_back(round_trip);
  if (round_trips_.size() > kRemembered) round_trips_.pop_front();
}

bool PairTableChoice::is_near(const PairTableJob& job, bool has_keys) const {
  if (most_wait_.count() == 0) return true;
  if (round_trips_.empty()) return false;
  const Time half = *std::ranges::min_element(round_trips_) / 2;
  return half * static_cast<Time::rep>(job.waits(has_keys)) <= most_wait_;
}

// A quota is counted in jobs of this one's size.
bool PairTableChoice::takes(const PairJob& of, const PairStatement& own, std::size_t most) {
  answer_ = InstanceQuotas::Answer::kGranted;
  if (!own.tables.wanted || !of.by_tables) return false;
  const PairTableJob& job = *of.by_tables;
  if (!is_near(job, own.tables.round_keys)) return false;
  if (most_wait_.count() != 0 && own.ready > 0 && own.tables.ready == 0) return false;
  const std::size_t lookups = job.needs(job.way, own.tables.round_keys);
  const bool forward = job.way == PairTables::Way::kForward;
  const InstanceSupply supply{forward ? "forward" : "inverse",
                              own.tables.left.of(job.way) / lookups, most / lookups, 0};
  answer_ = quotas_.ask(of, supply);
  return answer_ == InstanceQuotas::Answer::kGranted;
}

}  // namespace tkdc
