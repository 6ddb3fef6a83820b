// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/bit_slot.h"

namespace tkdc::cuda {

Result<std::unique_ptr<BitSlot>> BitSlot::make(Driver& driver, std::size_t capacity) {
  std::unique_ptr<BitSlot> slot(new BitSlot(driver, capacity));
  if (auto done = slot->allocate(); !done) return done.error();
  return slot;
}

// The order of take() is that of plan(). Capacities are powers of two from 64 on.
Result<void> BitSlot::allocate() {
  const std::size_t words = capacity_ / 32, stride = words + 1;
  const std::size_t planes = sha1::kPlaneCount * 2 * stride * sizeof(Word);
  const std::size_t factors = 4 * BitProgram::kMostProducts * stride * sizeof(Word);
  // The longest message; its last word is read with the one behind it.
  const std::size_t message = (BitProgram::kMostProducts * words + 1) * sizeof(Word);
  const std::size_t column_octets = bits::kWordsIn * capacity_ * sizeof(Word);
  for (Arena* arena : {&device_, &pinned_}) {
    for (std::size_t part : {sizeof(Tick), sizeof(BitProgram), column_octets, column_octets})
      arena->plan(part);
    for (int part = 0; part < 6; ++part) arena->plan(message);
  }
  device_.plan(planes);
  device_.plan(factors);
  if (auto done = allocate_planned(); !done) return done;

  device_tick = device_.take<Tick>(sizeof(Tick));
  tick = pinned_.take<Tick>(sizeof(Tick));
  view.bits.program = device_.take<BitProgram>(sizeof(BitProgram));
  program = pinned_.take<BitProgram>(sizeof(BitProgram));
  for (std::size_t c = 0; c < 2; ++c) {
    view.octets[c] = device_.take<Word>(column_octets);
    octets[c] = pinned_.take<std::uint8_t>(column_octets);
  }
  view.mine[0] = device_.take<Word>(message);
  view.theirs[0] = device_.take<Word>(message);
  mine = pinned_.take<std::uint8_t>(message);
  theirs = pinned_.take<std::uint8_t>(message);
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t side = 0; side < 2; ++side) {
      view.bits.packed[c][side] = device_.take<Word>(message);
      packed[c][side] = pinned_.take<std::uint8_t>(message);
    }
  view.bits.planes = device_.take<Word>(planes);
  view.bits.factors = device_.take<Word>(factors);
  return {};
}

}  // namespace tkdc::cuda
