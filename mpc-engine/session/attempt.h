// SPDX-License-Identifier: Apache-2.0
// One attempt at a session, from dialling to the agreed epoch. Internal to the
// mesh; a function so that nothing of a failed attempt survives it.
#pragma once

#include "session/acceptor.h"
#include "session/backoff.h"
#include "session/mesh_options.h"

namespace tkdc {

struct AttemptInputs {
  const MeshOptions& options;
  const MeshPeer& prev;
  const MeshPeer& next;
  Acceptor& acceptor;
  Entries& entries;
  EpochLedger& ledger;
  std::shared_ptr<LinkBreaker> breaker;
  // The previous party's attempt that this one goes with.
  std::function<void(const std::array<std::uint8_t, 32>&)> chosen;
};

Result<Session> attempt_session(AttemptInputs inputs);

}  // namespace tkdc
