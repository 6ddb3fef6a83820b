// SPDX-License-Identifier: Apache-2.0
// Heads of operations in two parts that this server has answered, until their tail comes
// (docs/protocols/17-two-part-hmac.md).
//
// A tail runs for a head of the same agent, run, key, operation and usage, and for each head
// one does: so an agent gets no more MACs than the heads that it was charged for. Taken means gone,
// whatever becomes of the tail. Each server keeps its own, over sessions, for kWithin: an agent
// needs microseconds between the two.
//
// Thread-safe. Holds no secrets.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "base/machine.h"
#include "service/wire/message.h"

namespace tkdc {

class HalfDone {
 public:
  using Clock = SteadyClock;
  static constexpr auto kWithin = std::chrono::seconds(30);
  static constexpr std::size_t kMaxOfAgent = 16'384;

  // Whether this agent may begin another: not while so many of its heads wait for their tails.
  bool room(std::uint64_t agent) const {
    std::lock_guard lock(mutex_);
    auto it = agents_.find(agent);
    return it == agents_.end() || it->second.size() < kMaxOfAgent;
  }

  // Before the head's answer leaves: its tail may come right after it.
  void answered(const JobRequest& head, Clock::time_point now = Clock::now()) {
    std::lock_guard lock(mutex_);
    agents_[head.name.agent][{head.name.run, head.name.number}] = {head.key, head.op, head.usage,
                                                                   now};
  }

  // The head that this job is the tail of leaves the table. False: there is none.
  bool take(const JobRequest& tail, std::uint64_t head_number,
            Clock::time_point now = Clock::now()) {
    std::lock_guard lock(mutex_);
    auto agent = agents_.find(tail.name.agent);
    if (agent == agents_.end()) return false;
    auto it = agent->second.find({tail.name.run, head_number});
    if (it == agent->second.end()) return false;
    const Head head = it->second;
    agent->second.erase(it);
    return head.key == tail.key && head.op == tail.op && head.usage == tail.usage &&
           now - head.at <= kWithin;
  }

  // Gives up those whose tail has not come in time; call it now and then.
  void expire(Clock::time_point now = Clock::now()) {
    std::lock_guard lock(mutex_);
    for (auto& [agent, heads] : agents_)
      abandoned_ +=
          std::erase_if(heads, [&](const auto& entry) { return now - entry.second.at > kWithin; });
  }

  // Hardly any of an honest agent's: it died, or its client's deadline passed.
  std::uint64_t abandoned() const {
    std::lock_guard lock(mutex_);
    return abandoned_;
  }

 private:
  struct Head {
    KeyRef key;
    tkdc_wire_op op = TKDC_OP_SEAL;
    std::uint32_t usage = 0;
    Clock::time_point at;
  };
  using OfAgent = std::map<std::pair<std::uint64_t, std::uint64_t>, Head>;  // run, number

  mutable std::mutex mutex_;
  std::map<std::uint64_t, OfAgent> agents_;  // as many as the configuration lists
  std::uint64_t abandoned_ = 0;
};

}  // namespace tkdc
