// SPDX-License-Identifier: Apache-2.0
#include "threegarble/fill.h"

#include <algorithm>

namespace tkdc::threegarble {
namespace {

using State = Maker::State;
// Of the three servers, in their order.
using Words = std::array<std::uint8_t, 3>;

constexpr const char* kWrongTables = "a server has sent tables that are not those of the circuit";
constexpr std::uint8_t kNothing = 0xff;  // before the first word
// A lane in which nothing else happens does not turn while an instance is made.
constexpr std::chrono::microseconds kIdle{500};

bool any(const Words& words, State state) {
  return std::ranges::count(words, static_cast<std::uint8_t>(state)) > 0;
}
bool all(const Words& words, State state) {
  return std::ranges::count(words, static_cast<std::uint8_t>(state)) == 3;
}

// What the tick agrees on: which instance, and what was said in the tick before.
Bytes about(const InstanceId& id, const Words& said) {
  Bytes out;
  Writer w(out);
  w.text("threegarble 1 making");
  w.u32(id.lane);
  w.raw(id.circuit);
  w.u64(id.n);
  w.raw(said);
  return out;
}

// One tick. The words become the three servers' of this one.
Task<void> tell(Lane& lane, InstanceId id, State mine, Words& words) {
  // Known here alone, and told in this tick: it stands even if the tick fails.
  if (mine == State::kWrong) lane.deviates_with_this_tick(kWrongTables);
  const auto word = static_cast<std::uint8_t>(mine);
  FromBoth others = co_await lane.agree(about(id, words), Bytes(1, word));
  const auto me = static_cast<std::size_t>(lane.party());
  words[me] = word;
  words[(me + 1) % 3] = others.next[0];
  words[(me + 2) % 3] = others.prev[0];
  if (std::ranges::none_of(
          words, [](auto one) { return one >= static_cast<std::uint8_t>(State::kWrong); }))
    co_return;
  lane.set_deviation(kWrongTables);
  co_await std::suspend_always();
}

}  // namespace

Task<Filled> fill(LaneSide& mine, Maker& maker, std::function<bool()> stop) {
  Lane& lane = mine.lane();
  Reserve& reserve = mine.reserve();
  while (!stop()) {
    const std::optional<Reserve::Next> next = reserve.next();
    if (!next) co_return Filled::kFull;
    reserve.begin(*next);
    Words words{kNothing, kNothing, kNothing};
    co_await tell(lane, next->id, State::kMaking, words);
    maker.begin(reserve.shape(next->kind), next->id);
    while (!any(words, State::kBroken) && !all(words, State::kMade)) {
      if (lane.tasks() == 1) maker.wait(kIdle);
      co_await tell(lane, next->id, maker.poll(), words);
    }
    // Once more, so that all three know that all three have heard the same.
    const Words last = words;
    co_await tell(lane, next->id, maker.poll(), words);
    if (any(last, State::kBroken)) {
      reserve.drop(*next);
      co_return Filled::kBroken;
    }
    reserve.put(*next, maker.take());
  }
  co_return Filled::kFull;
}

}  // namespace tkdc::threegarble
