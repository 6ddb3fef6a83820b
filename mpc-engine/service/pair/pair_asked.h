// SPDX-License-Identifier: Apache-2.0
// At the leader: which keys have been asked for lately, so that the next session begins with them.
// Kept over sessions. One thread; nothing in it is secret.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "service/wire/message.h"

namespace tkdc {

class PairAsked {
 public:
  static constexpr std::size_t kMost = 4096;

  void note(const KeyId& id) {
    asked_[id] = ++now_;
    if (asked_.size() > kMost)
      asked_.erase(
          std::ranges::min_element(asked_, {}, [](const auto& one) { return one.second; }));
  }
  std::vector<KeyId> latest_last() const {
    std::vector<std::pair<std::uint64_t, KeyId>> in_order;
    for (const auto& [id, when] : asked_) in_order.emplace_back(when, id);
    std::ranges::sort(in_order);
    std::vector<KeyId> out;
    for (const auto& [when, id] : in_order) out.push_back(id);
    return out;
  }

 private:
  std::map<KeyId, std::uint64_t> asked_;
  std::uint64_t now_ = 0;
};

}  // namespace tkdc
