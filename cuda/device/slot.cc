// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/slot.h"

namespace tkdc::cuda {
namespace {

// The larger of both representations' messages; a state of planes is whole octets of blocks.
std::size_t state_octets(std::size_t capacity) { return 128 * ((capacity + 7) / 8); }
std::size_t message_octets(std::size_t capacity, int layer) {
  return static_cast<std::size_t>(kLayerBits[layer]) * state_octets(capacity) / 8;
}

}  // namespace

Result<std::unique_ptr<Slot>> Slot::make(Driver& driver, std::size_t capacity) {
  std::unique_ptr<Slot> slot(new Slot(driver, capacity));
  if (auto done = slot->allocate(); !done) return done.error();
  return slot;
}

// The order of take() is that of plan(). A key for each block: the most runs there can be.
Result<void> Slot::allocate() {
  const std::size_t state = state_octets(capacity_), key_octets = 32 * capacity_;
  const std::size_t run_octets = capacity_ * sizeof(std::uint32_t);
  for (Arena* arena : {&device_, &pinned_}) {
    const bool pinned = arena == &pinned_;
    for (std::size_t part : {sizeof(Tick), key_octets, run_octets}) arena->plan(part);
    for (int part = 0; part < (pinned ? 4 : 6); ++part) arena->plan(state);
    for (int copy = 0; copy < (pinned ? 4 : 2); ++copy)
      for (int layer = 0; layer < kLayers; ++layer) arena->plan(message_octets(capacity_, layer));
  }
  if (auto done = allocate_planned(); !done) return done;

  device_tick = device_.take<Tick>(sizeof(Tick));
  tick = pinned_.take<Tick>(sizeof(Tick));
  view.round_key = device_.take<Word>(key_octets);
  key = pinned_.take<std::uint8_t>(key_octets);
  view.run_of = device_.take<std::uint32_t>(run_octets);
  run_of = pinned_.take<std::uint32_t>(run_octets);
  for (int c = 0; c < 2; ++c) {
    view.input[c] = view.state[c] = device_.take<Word>(state);
    spare[c] = device_.take<Word>(state);
    view.octets[c] = device_.take<Word>(state);
    octets[c] = pinned_.take<std::uint8_t>(state);
    input[c] = pinned_.take<std::uint8_t>(state);
  }
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::size_t message = message_octets(capacity_, layer);
    view.mine[layer] = device_.take<Word>(message);
    view.theirs[layer] = device_.take<Word>(message);
    for (int odd = 0; odd < 2; ++odd) {
      mine[odd][layer] = pinned_.take<std::uint8_t>(message);
      theirs[odd][layer] = pinned_.take<std::uint8_t>(message);
    }
  }
  return {};
}

}  // namespace tkdc::cuda
