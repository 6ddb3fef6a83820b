// SPDX-License-Identifier: Apache-2.0
// An instance of a lane's reserve, from the moment that a job takes it until its result is there
// (docs/protocols/20-three-servers.md). Whoever finds none computes by sharing: nothing has left.
//
// Called from a lane's tasks. Secret: input, result.
#pragma once

#include <functional>
#include <utility>

#include "protocol/shared_bytes.h"
#include "service/garbled/whole.h"
#include "threegarble/binding.h"
#include "threegarble/side.h"

namespace tkdc {

// One instance of a kind that is kept for a job, from when it is let go until it takes it: a job
// that opens something before that needs a tick or more, in which others come.
class InstanceHold {
 public:
  InstanceHold() = default;
  explicit InstanceHold(std::function<void()> ended) : ended_(std::move(ended)) {}
  InstanceHold(InstanceHold&& other) noexcept : ended_(std::exchange(other.ended_, nullptr)) {}
  InstanceHold& operator=(InstanceHold&& other) noexcept {
    end();
    ended_ = std::exchange(other.ended_, nullptr);
    return *this;
  }
  ~InstanceHold() { end(); }
  bool any() const { return ended_ != nullptr; }
  // It is taken, or others may have it.
  void end() {
    if (const auto ended = std::exchange(ended_, nullptr)) ended();
  }

 private:
  std::function<void()> ended_;
};

struct GarbledLane {
  threegarble::LaneSide& side;
  const WholeKinds& kinds;
  // Octets of m1 of jobs that run: a tick's packet carries those of all that began together.
  std::size_t& at_work;
  InstanceHold* hold = nullptr;  // the job's, where jobs hold what they take
};
inline constexpr std::size_t kMostAtWork = std::size_t{4} << 20;

class TakenInstance {
 public:
  // Nothing: no such kind, none ready or held for it, or packets that are full.
  static std::optional<TakenInstance> take(GarbledLane lane, const std::string& circuit);
  // m1, m2, m3: three ticks. What follows from the result may leave. The lane's admission has
  // compared what the job and its record bring; `tag` names all that is public of it. Nothing, and
  // nothing has left: its number was used before, or the input has another length, of a record that
  // another build made. A deviation ends the lane.
  Task<std::optional<SharedBytes>> run(threegarble::JobTag tag, SharedBytes input);

 private:
  TakenInstance(GarbledLane lane, std::size_t kind, threegarble::Instance instance)
      : lane_(lane), kind_(kind), instance_(std::move(instance)) {}
  GarbledLane lane_;
  std::size_t kind_;
  threegarble::Instance instance_;
};

}  // namespace tkdc
