// SPDX-License-Identifier: Apache-2.0
// A memory ring whose wires a test can cut, delay and tap.
#pragma once

#include <functional>
#include <mutex>
#include <tuple>
#include <vector>

#include "link/memory_ring.h"

namespace tkdc {

class FaultyRing final : public MemoryRing {
 public:
  enum class Action { kDeliver, kDrop, kHold };

  // Decides about each packet and may change it. Called by the senders' threads.
  std::function<Action(int from, Neighbour to, SecretVector& packet)> fault;

  // Delivers what was held, in the order of sending.
  void release_held() {
    std::vector<std::tuple<int, Neighbour, SecretVector>> held;
    {
      std::lock_guard lock(mutex_);
      held.swap(held_);
    }
    for (auto& [from, to, packet] : held) deliver(from, to, std::move(packet));
  }

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    Action action = fault ? fault(from, to, packet) : Action::kDeliver;
    if (action == Action::kDeliver) deliver(from, to, std::move(packet));
    if (action != Action::kHold) return;
    std::lock_guard lock(mutex_);
    held_.emplace_back(from, to, std::move(packet));
  }

 private:
  std::mutex mutex_;
  std::vector<std::tuple<int, Neighbour, SecretVector>> held_;
};

}  // namespace tkdc
