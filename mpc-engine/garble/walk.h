// SPDX-License-Identifier: Apache-2.0
// A position in a schedule. Garbler and evaluator go the same way: of each layer its XORs, then its
// ANDs, as many at a time as there is room for their tables.
#pragma once

#include <cassert>
#include <span>

#include "circuit/schedule.h"

namespace tkdc::garble {

inline std::uint64_t ands_of(const circuit::Schedule& schedule) {
  std::uint64_t ands = 0;
  for (const circuit::Schedule::Part& part : schedule.parts) ands += part.ands;
  return ands;
}

class Walk {
 public:
  using Gates = std::span<const circuit::ScheduledGate>;

  void begin(const circuit::Schedule& schedule) {
    schedule_ = &schedule;
    gate_ = layer_ = 0;
    ands_left_ = ands_of(schedule);
    enter_layer();
  }
  const circuit::Schedule& schedule() const { return *schedule_; }
  bool begun() const { return schedule_ != nullptr; }
  bool done() const { return layer_ == schedule_->layers.size(); }
  std::uint64_t ands_left() const { return ands_left_; }

  // The XORs that come before the next AND or the end.
  Gates take_xors() {
    const Gates xors = take(xors_);
    xors_ = 0;
    leave_layer();
    return xors;
  }
  // ANDs that can be taken now: what is left of a layer.
  std::size_t ands() const { return xors_ == 0 ? ands_ : 0; }
  Gates take_ands(std::size_t count) {
    assert(count <= ands());
    ands_ -= count;
    ands_left_ -= count;
    const Gates taken = take(count);
    leave_layer();
    return taken;
  }

 private:
  void enter_layer() {
    if (done()) return;
    xors_ = schedule_->layers[layer_].xors;
    ands_ = schedule_->layers[layer_].ands;
  }
  void leave_layer() {
    if (done() || xors_ > 0 || ands_ > 0) return;
    ++layer_;
    enter_layer();
  }
  Gates take(std::size_t count) {
    const Gates taken = Gates(schedule_->gates).subspan(gate_, count);
    gate_ += count;
    return taken;
  }

  const circuit::Schedule* schedule_ = nullptr;
  std::size_t gate_ = 0, layer_ = 0;
  std::size_t xors_ = 0, ands_ = 0;  // left of the layer
  std::uint64_t ands_left_ = 0;      // of the circuit
};

}  // namespace tkdc::garble
