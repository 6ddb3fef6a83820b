// SPDX-License-Identifier: Apache-2.0
#include "service/garbled/instance_quotas.h"

#include <algorithm>
#include <map>
#include <queue>

namespace tkdc {
namespace {

constexpr std::size_t kKeyWeight = 1, kAgentWeight = 2;
// Of all kinds, some of which nobody asks for any more: the oldest that was taken is forgotten.
constexpr std::size_t kMostTaken = 4096;

std::size_t less(std::size_t all, std::size_t gone) { return all - std::min(all, gone); }

}  // namespace

std::vector<bool> paid_off(std::span<const Taker> takers, std::size_t made) {
  // Of one taker: its places, of which the first `paid` are paid off.
  struct Account {
    std::vector<std::size_t> places;
    std::size_t paid = 0;
    std::size_t oldest() const { return places[paid]; }
    std::size_t owes() const { return places.size() - paid; }
  };
  std::map<Taker, Account> accounts;
  for (std::size_t place = 0; place < takers.size(); ++place)
    accounts[takers[place]].places.push_back(place);
  const auto after = [](const Account* a, const Account* b) {
    return a->owes() != b->owes() ? a->owes() < b->owes() : a->oldest() > b->oldest();
  };
  std::priority_queue<Account*, std::vector<Account*>, decltype(after)> next(after);
  for (auto& [taker, account] : accounts) next.push(&account);
  std::vector<bool> out(takers.size());
  for (std::size_t k = 0; k < std::min(made, takers.size()); ++k) {
    Account* most = next.top();
    next.pop();
    out[most->oldest()] = true;
    ++most->paid;
    if (most->owes() > 0) next.push(most);
  }
  return out;
}

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

// As many as have been made again since.
void InstanceQuotas::pay(const InstanceSupply& supply) {
  const auto owed = [&](const Taken& one) {
    return !one.promised && one.circuit == supply.circuit;
  };
  std::vector<Taker> takers;
  for (const Taken& one : taken_)
    if (owed(one)) takers.push_back(one.key);
  const std::vector<bool> paid =
      paid_off(takers, less(takers.size(), less(supply.wanted, supply.ready)));
  std::size_t at = 0;
  std::erase_if(taken_, [&](const Taken& one) { return owed(one) && paid[at++]; });
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
  if (taken_.size() > kMostTaken)
    taken_.erase(std::ranges::find_if(taken_, [](const Taken& one) { return !one.promised; }));
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
