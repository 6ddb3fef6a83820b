// SPDX-License-Identifier: Apache-2.0
#include "threegarble/fill.h"

#include "threegarble/three_words.h"

namespace tkdc::threegarble {
namespace {

using State = Maker::State;

constexpr const char* kWrongTables = "a server has sent tables that are not those of the circuit";
// A lane in which nothing else happens does not turn while an instance is made.
constexpr std::chrono::microseconds kIdle{500};

// Of streams, when one has failed; and behind the last word that something follows from, so that it
// is compared too.
constexpr std::uint8_t kHasNone = 0, kHasOthers = 1, kHeard = 2;

constexpr std::uint8_t word(State state) { return static_cast<std::uint8_t>(state); }

Bytes making(const InstanceId& id) {
  Bytes out;
  Writer w(out);
  w.text("threegarble 1 making");
  w.u32(id.lane);
  w.raw(id.circuit);
  w.u64(id.n);
  return out;
}

// One tick.
Task<void> tell(Lane& lane, State mine, ThreeWords& words) {
  // Known here alone, and told in this tick: it stands even if the tick fails.
  if (mine == State::kWrong) lane.deviates_with_this_tick(kWrongTables);
  co_await words.say(word(mine));
  if (!words.above(word(State::kBroken))) co_return;
  lane.set_deviation(kWrongTables);
  co_await std::suspend_always();
}

}  // namespace

Task<Filled> fill(LaneSide& mine, Maker& maker, FillOptions options) {
  Lane& lane = mine.lane();
  Reserve& reserve = mine.reserve();
  while (!options.stop()) {
    const std::optional<Reserve::Next> next = reserve.next();
    if (!next) co_return Filled::kFull;
    reserve.begin(*next);
    ThreeWords words(lane, making(next->id));
    co_await words.say(options.streams);
    if (!words.all(options.streams)) {
      co_await words.say(kHeard);
      reserve.drop(*next);
      co_return Filled::kApart;
    }
    maker.begin(reserve.shape(next->kind), next->id);
    do {
      if (lane.tasks() <= 1 + options.waiting()) maker.wait(kIdle);
      co_await tell(lane, maker.poll(), words);
    } while (!words.any(word(State::kBroken)) && !words.all(word(State::kMade)));
    // Once more, so that all three know that all three have heard the same.
    if (words.any(word(State::kBroken))) {
      co_await words.say(options.renewed() ? kHasOthers : kHasNone);
      const bool renewed = words.all(kHasOthers);
      maker.give_up("an instance could not be made over these streams");
      co_await words.say(kHeard);
      reserve.drop(*next);
      mine.note(Step::kLost, next->id);
      co_return renewed ? Filled::kRenewed : Filled::kBroken;
    }
    co_await tell(lane, maker.poll(), words);
    reserve.put(*next, maker.take());
    mine.note(Step::kMade, next->id);
  }
  co_return Filled::kFull;
}

}  // namespace tkdc::threegarble
