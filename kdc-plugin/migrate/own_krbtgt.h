// SPDX-License-Identifier: Apache-2.0
// The realm's own krbtgt against the servers: a question or two, however many keys they hold, where
// a whole comparison lists them all. Nothing here is secret.
#pragma once

#include <vector>

#include "migrate/agent_pipe.h"
#include "migrate/exporter.h"

namespace tkdc::migrate {

// The first key of its newest version, with which every ticket is sealed.
struct OwnKrbtgt {
  std::vector<ExportKey> dead;  // it, if no server holds it
  bool plain = false;           // it is no handle: the database itself has the key
};

// Error: the database or the servers cannot be asked.
Result<OwnKrbtgt> look_at_own_krbtgt(RealmDb& db, AgentPipe& agent);

}  // namespace tkdc::migrate
