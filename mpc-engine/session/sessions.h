// SPDX-License-Identifier: Apache-2.0
// Who makes sessions out of connections: three parties (session/mesh.h), or two
// (session/pair_mesh.h). Its owner asks for one session after the other and works with each until
// its links break.
//
// Threads: establish() by one; the others by any.
#pragma once

#include "session/epoch_ledger.h"
#include "session/session.h"

namespace tkdc {

class Sessions {
 public:
  virtual ~Sessions() = default;

  // One attempt, at most establish_timeout_ms long. The caller tries again
  // until it succeeds, with a Backoff in between.
  virtual Result<Session> establish() = 0;

  // Ends a running establish() and the links of the current session; every
  // later establish() fails.
  virtual void stop() = 0;

  // On which the other parties are heard.
  virtual int port() const = 0;
  // How many nonce epochs there are still.
  virtual EpochReport epochs() = 0;
};

}  // namespace tkdc
