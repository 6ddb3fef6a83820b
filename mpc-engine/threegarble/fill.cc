// SPDX-License-Identifier: Apache-2.0
#include "threegarble/fill.h"

#include <algorithm>

namespace tkdc::threegarble {
namespace {

constexpr const char* kWrongTables = "a server has sent tables that are not those of the circuit";

}  // namespace

Task<Filled> fill(Lane& lane, Reserve& reserve, Maker& maker, std::function<bool()> stop) {
  using State = Maker::State;
  while (!stop()) {
    const std::optional<Reserve::Next> next = reserve.next();
    if (!next) co_return Filled::kFull;
    reserve.begin(*next);
    maker.begin(reserve.shape(next->kind), next->id);
    for (;;) {
      const State mine = maker.poll();
      // Known here alone, and told in this tick: it stands even if the tick fails.
      if (mine == State::kWrong) lane.deviates_with_this_tick(kWrongTables);
      const auto octet = static_cast<std::uint8_t>(mine);
      const ByteSpan word(&octet, 1);
      FromBoth others = co_await lane.exchange(word);
      const State all[] = {mine, static_cast<State>(others.prev[0]),
                           static_cast<State>(others.next[0])};
      if (std::ranges::any_of(all, [](State one) { return one >= State::kWrong; })) {
        lane.set_deviation(kWrongTables);
        co_await std::suspend_always();
      }
      if (std::ranges::count(all, State::kBroken) > 0) {
        reserve.drop(*next);
        co_return Filled::kBroken;
      }
      if (std::ranges::count(all, State::kMade) < 3) continue;
      reserve.put(*next, maker.take());
      break;
    }
  }
  co_return Filled::kFull;
}

}  // namespace tkdc::threegarble
