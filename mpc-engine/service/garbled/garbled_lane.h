// SPDX-License-Identifier: Apache-2.0
// An instance of a lane's reserve, from the moment that a job takes it until its result is there
// (docs/protocols/20-three-servers.md). Whoever finds none computes by sharing: nothing has left.
//
// Called from a lane's tasks. Secret: input, result.
#pragma once

#include "protocol/shared_bytes.h"
#include "service/garbled/whole.h"
#include "threegarble/binding.h"
#include "threegarble/side.h"

namespace tkdc {

struct GarbledLane {
  threegarble::LaneSide& side;
  const WholeKinds& kinds;
  // Octets of m1 of jobs that run: a tick's packet carries those of all that began together.
  std::size_t& at_work;
};
inline constexpr std::size_t kMostAtWork = std::size_t{4} << 20;

class TakenInstance {
 public:
  // Nothing: no such kind, none ready, or packets that are full.
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
