// SPDX-License-Identifier: Apache-2.0
// Why there is no session, for the log: each reason once a minute, and another one at
// once. A network that resets connections, or a neighbour that is away for a day, fills no disk.
// Where a neighbour gives ever other reasons, the next one is logged when a minute is over since
// the last. Not thread safe.
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
    const bool room = logged_.size() < kMax || now_ms - last_ms_ > kRepeatMs;
    if (!room || !logged_.emplace(reason, now_ms).second) return false;
    last_ms_ = now_ms;
    return true;
  }
  void clear() { logged_.clear(); }

 private:
  std::map<std::string, long long> logged_;  // when, by reason
  long long last_ms_ = 0;
};

}  // namespace tkdc
