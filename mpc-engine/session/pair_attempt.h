// SPDX-License-Identifier: Apache-2.0
// One attempt at a session of two, from the call to the bulk streams. Internal to PairMesh; a
// function so that nothing of a failed attempt survives it.
#pragma once

#include "session/acceptor.h"
#include "session/mesh_options.h"

namespace tkdc {

struct PairAttemptInputs {
  const MeshOptions& options;
  Acceptor* acceptor;  // null: this party calls
  Entries& entries;
  std::shared_ptr<LinkBreaker> breaker;
  // The other party's attempt that this one goes with.
  std::function<void(const std::array<std::uint8_t, 32>&)> chosen;
};

Result<Session> attempt_pair_session(PairAttemptInputs inputs);

}  // namespace tkdc
