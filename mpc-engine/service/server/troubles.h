// SPDX-License-Identifier: Apache-2.0
// Why there is no session, or what jobs meet, for the log: each reason once a minute, another one
// at once, and no more than kMax in a minute. A network that resets connections, or a neighbour
// that is away for a day, fills no disk. Not thread safe.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace tkdc {

class Troubles {
 public:
  static constexpr long long kRepeatMs = 60'000;
  static constexpr std::size_t kMax = 16;  // reasons in one minute

  // True: log it. now_ms: of a clock that never goes back.
  bool is_news(const std::string& reason, long long now_ms) {
    std::erase_if(logged_, [&](const auto& one) { return now_ms - one.second > kRepeatMs; });
    return logged_.size() < kMax && logged_.emplace(reason, now_ms).second;
  }
  void clear() { logged_.clear(); }

 private:
  std::map<std::string, long long> logged_;  // when, by reason
};

}  // namespace tkdc
