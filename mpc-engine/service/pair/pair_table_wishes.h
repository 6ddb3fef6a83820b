// SPDX-License-Identifier: Apache-2.0
// How many lookup tables jobs ask for, each way: what the leader has more of made by, and how long
// those that are left last. Kept over sessions. One thread; nothing in it is secret.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/machine.h"
#include "service/pair/pair_tables.h"

namespace tkdc {

class PairTableWishes {
 public:
  using Clock = SteadyClock;
  using Way = PairTables::Way;
  static constexpr auto kForgotten = std::chrono::minutes(15);  // since they were asked for
  static constexpr double kRemembered_s = 60;

  // A job's, whether it has got them or not.
  void note(Way way, std::size_t lookups, Clock::time_point now = Clock::now()) {
    Wish& wish = wishes_[static_cast<std::size_t>(way)];
    wish.lately = lately(wish, now) + static_cast<double>(lookups);
    if (now - wish.asked >= kForgotten) wish.largest = 0;
    wish.largest = std::max(wish.largest, lookups);
    wish.asked = now;
  }
  double per_s(Way way, Clock::time_point now = Clock::now()) const {
    return lately(wishes_[static_cast<std::size_t>(way)], now) / kRemembered_s;
  }

  // The way of which most is missing, of those that have been asked for lately and that there is
  // room for. `few`: only where less is left than one job has asked for.
  template <class Left, class Room>
  std::optional<Way> next(bool few, const Left& left, const Room& room,
                          Clock::time_point now = Clock::now()) const {
    std::optional<Way> out;
    double least = 0;
    for (const Way way : {Way::kForward, Way::kInverse}) {
      const Wish& wish = wishes_[static_cast<std::size_t>(way)];
      if (wish.largest == 0 || now - wish.asked >= kForgotten || !room(way)) continue;
      const std::size_t there = left(way);
      if (few && there >= wish.largest) continue;
      const double wanted = std::max(lately(wish, now), static_cast<double>(wish.largest));
      const double share = static_cast<double>(there) / wanted;
      if (out && share >= least) continue;
      least = share;
      out = way;
    }
    return out;
  }

  // How long what is left lasts, at the present rate; nothing: nobody asks.
  template <class Left>
  std::optional<std::uint64_t> lasts_s(const Left& left,
                                       Clock::time_point now = Clock::now()) const {
    constexpr double kLeastPerS = 0.01, kMost = 1e9;
    std::optional<std::uint64_t> out;
    for (const Way way : {Way::kForward, Way::kInverse}) {
      const double rate = per_s(way, now);
      if (rate < kLeastPerS) continue;
      const double some = std::min(static_cast<double>(left(way)) / rate, kMost);
      out = std::min(out.value_or(~std::uint64_t{0}), static_cast<std::uint64_t>(some));
    }
    return out;
  }

 private:
  struct Wish {
    double lately = 0;
    std::size_t largest = 0;
    Clock::time_point asked{};
  };
  static double lately(const Wish& wish, Clock::time_point now) {
    const std::chrono::duration<double> since = now - wish.asked;
    return wish.lately * std::exp(-since.count() / kRemembered_s);
  }
  std::array<Wish, 2> wishes_;
};

}  // namespace tkdc
