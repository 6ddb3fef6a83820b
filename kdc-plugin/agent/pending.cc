// SPDX-License-Identifier: Apache-2.0
#include "agent/pending.h"

namespace tkdc::agent {

Pending& PendingTable::add(std::uint64_t number, Pending pending) {
  deadlines_.emplace(pending.deadline, number);
  bytes_ += pending.bytes;
  statuses_ += pending.op() == TKDC_OP_STATUS;
  return jobs_.emplace(number, std::move(pending)).first->second;
}

Pending* PendingTable::find(std::uint64_t number) {
  auto it = jobs_.find(number);
  return it == jobs_.end() ? nullptr : &it->second;
}

Pending PendingTable::take(std::uint64_t number) {
  auto it = jobs_.find(number);
  assert(it != jobs_.end());
  Pending pending = std::move(it->second);
  jobs_.erase(it);
  deadlines_.erase({pending.deadline, number});
  bytes_ -= pending.bytes;
  statuses_ -= pending.op() == TKDC_OP_STATUS;
  return pending;
}

std::optional<std::uint64_t> PendingTable::expired(Clock::time_point now) const {
  if (deadlines_.empty() || deadlines_.begin()->first > now) return std::nullopt;
  return deadlines_.begin()->second;
}

std::optional<Clock::time_point> PendingTable::first_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

std::optional<Clock::time_point> PendingTable::oldest_start() const {
  if (deadlines_.empty()) return std::nullopt;
  const Pending& first = jobs_.at(deadlines_.begin()->second);
  if (first.op() == TKDC_OP_STATUS) return std::nullopt;
  return first.started;
}

std::vector<std::uint64_t> PendingTable::numbers() const {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(jobs_.size());
  for (const auto& [number, pending] : jobs_) numbers.push_back(number);
  return numbers;
}

}  // namespace tkdc::agent
