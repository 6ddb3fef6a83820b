// SPDX-License-Identifier: Apache-2.0
// What stands behind a Party: a lane with everything that runs on it, driven by
// whoever calls. Used by one thread.
#pragma once

#include "lane/ticker.h"
#include "rep3/unit/rep3_protocol.h"
#include "session/mesh.h"
#include "tkdc/party.h"

// No program links against it.
#pragma GCC visibility push(hidden)

namespace tkdc::mpc {

class [[gnu::visibility("hidden")]] Party::Impl {
 public:
  // `owners`: what the session's link needs to live, freed after it.
  Impl(std::shared_ptr<void> owners, Session session, const Rep3Backend& backend, int timeout_ms);
  ~Impl();

  // Runs one protocol to its end. `what` names it in the error.
  Result<void> run(const char* what, Task<void> task);
  // The same for a protocol with a result.
  Result<SharedBytes> result(const char* what, Task<SharedBytes> task);

  Error close(const std::string& why);

  std::shared_ptr<void> owners;
  Session session;
  Lane lane;
  Rep3 rep3;
  Rep3Protocol protocol;
  Ticker ticker;
  const int timeout_ms;
  std::optional<std::string> closed;
};

// A session of the API for that program: see join() in party.h.
Result<std::unique_ptr<Party::Impl>> connect(const PartyOptions& options);

}  // namespace tkdc::mpc

#pragma GCC visibility pop
