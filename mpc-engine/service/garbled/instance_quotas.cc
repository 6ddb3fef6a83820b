// SPDX-License-Identifier: Apache-2.0
#include "service/garbled/instance_quotas.h"

#include <algorithm>

namespace tkdc {
namespace {

constexpr std::size_t kKeyWeight = 1, kAgentWeight = 2;

std::size_t less(std::size_t all, std::size_t gone) { return all - std::min(all, gone); }

}  // namespace

template <class Of>
std::size_t InstanceQuotas::count(Of of) const {
  return static_cast<std::size_t>(std::ranges::count_if(taken_, of));
}

// Where many stand ready one may take many; where few do, no more who has taken some.
template <class Of>
bool InstanceQuotas::had_its_quota(Of of, std::size_t weight, const InstanceSupply& supply) const {
  const auto of_kind = [&](const Taken& one) { return one.circuit == supply.circuit; };
  const std::size_t had = count([&](const Taken& one) { return of_kind(one) && of(one); });
  const std::size_t promised =
      count([&](const Taken& one) { return of_kind(one) && one.promised; });
  if (had == 0 || had < weight * less(supply.ready, promised)) return false;
  if (supply.places == 0) return true;
  const std::size_t waiting = count([&](const Taken& one) { return one.promised; });
  const std::size_t waits = count([&](const Taken& one) { return one.promised && of(one); });
  return waits > 0 && waits >= weight * less(supply.places, waiting);
}

// As many as have been made again since: the oldest of who has taken most.
void InstanceQuotas::pay(const InstanceSupply& supply) {
  const auto owed = [&](const Taken& one) {
    return !one.promised && one.circuit == supply.circuit;
  };
  const std::size_t missing = less(supply.wanted, supply.ready);
  for (std::size_t all = count(owed); all > missing; --all) {
    auto most = taken_.end();
    std::size_t had_most = 0;
    for (auto one = taken_.begin(); one != taken_.end(); ++one) {
      if (!owed(*one)) continue;
      const std::size_t had =
          count([&](const Taken& other) { return owed(other) && other.key == one->key; });
      if (had <= had_most) continue;
      most = one;
      had_most = had;
    }
    taken_.erase(most);
  }
}

InstanceQuotas::Answer InstanceQuotas::ask(const JobName& job,
                                           const std::optional<PrincipalDigest>& key,
                                           const InstanceSupply& supply) {
  if (key) keys_.note(*key);
  agents_.note(job.agent);
  pay(supply);
  if (count([](const Taken& one) { return one.promised; }) >= kMostPromised) return Answer::kFull;
  const auto of_key = [&](const Taken& one) { return one.key == key; };
  const auto of_agent = [&](const Taken& one) { return one.job.agent == job.agent; };
  if (key && keys_.several && had_its_quota(of_key, kKeyWeight, supply)) return Answer::kKeyHad;
  if (agents_.several && had_its_quota(of_agent, kAgentWeight, supply)) return Answer::kAgentHad;
  taken_.push_back({job, key, supply.circuit});
  return Answer::kGranted;
}

void InstanceQuotas::settle(const JobName& job, bool has) {
  const auto one = std::ranges::find_if(
      taken_, [&](const Taken& each) { return each.promised && each.job == job; });
  if (one == taken_.end()) return;
  if (has)
    one->promised = false;
  else
    taken_.erase(one);
}

}  // namespace tkdc
