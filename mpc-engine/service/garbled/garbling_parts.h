// SPDX-License-Identifier: Apache-2.0
// What garbling of three servers has besides its options, where it is not what a server has by
// itself: tests/sim gives it circuits that are laid out once for all its servers, and watches
// instances.
#pragma once

#include "service/garbled/lane_garbling.h"

namespace tkdc {

struct GarblingParts {
  WholeShapes::LayOut lay_out;  // unset: WholeShapes::lay_out
  // Called by the lane's thread.
  std::function<void(const SessionId& session, threegarble::Step, const threegarble::InstanceId&)>
      watch;
};

}  // namespace tkdc
