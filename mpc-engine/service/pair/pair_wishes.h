// SPDX-License-Identifier: Apache-2.0
// At the leader: which circuits are worth having ready, learned from what jobs have asked for. Kept
// over sessions. One thread; nothing in it is secret.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.h"

namespace tkdc {

class PairWishes {
 public:
  using Clock = SteadyClock;
  static constexpr std::size_t kMostKinds = 128;
  static constexpr auto kForgotten = std::chrono::minutes(15);  // since it was asked for
  static constexpr double kRemembered_s = 60;

  void note(const std::string& kind, Clock::time_point now = Clock::now()) {
    Wish& wish = wishes_[kind];
    const std::chrono::duration<double> since = now - wish.asked;
    wish.often = wish.often * std::exp(-since.count() / kRemembered_s) + 1;
    wish.asked = now;
    if (wishes_.size() > kMostKinds) wishes_.erase(oldest());
  }

  bool has(const std::string& kind) const { return wishes_.contains(kind); }
  // How many of it would be made, if there were room.
  std::size_t wanted(const std::string& kind) const {
    const auto wish = wishes_.find(kind);
    return wish == wishes_.end() ? 0 : static_cast<std::size_t>(std::ceil(wish->second.often));
  }

  // The kind of which most is missing, of those of which there is room for one more.
  template <class Ready, class Room>
  std::optional<std::string> next(const Ready& ready, const Room& room) const {
    std::optional<std::string> out;
    double least = 1;
    for (const auto& [kind, wish] : wishes_) {
      const double share = static_cast<double>(ready(kind)) / std::ceil(wish.often);
      if (share >= least || !room(kind)) continue;
      least = share;
      out = kind;
    }
    return out;
  }

  // Those that nobody has asked for in a long time.
  std::vector<std::string> stale(Clock::time_point now = Clock::now()) {
    std::vector<std::string> out;
    std::erase_if(wishes_, [&](const auto& entry) {
      if (now - entry.second.asked < kForgotten) return false;
      out.push_back(entry.first);
      return true;
    });
    return out;
  }

 private:
  struct Wish {
    double often = 0;  // lately
    Clock::time_point asked{};
  };
  std::map<std::string, Wish>::iterator oldest() {
    auto out = wishes_.begin();
    for (auto one = wishes_.begin(); one != wishes_.end(); ++one)
      if (one->second.asked < out->second.asked) out = one;
    return out;
  }
  std::map<std::string, Wish> wishes_;
};

}  // namespace tkdc
