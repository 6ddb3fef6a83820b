// SPDX-License-Identifier: Apache-2.0
// The realm's own krbtgt against the servers: a question or two, however many keys they hold, where
// a whole comparison lists them all. Nothing here is secret.
#pragma once

#include <vector>

#include "migrate/agent_pipe.h"
#include "migrate/exporter.h"

namespace tkdc::migrate {

// The first key of its newest version, with which every ticket is sealed, if the database names it
// and no server holds it; else nothing. Error: the database or the servers cannot be asked.
Result<std::vector<ExportKey>> dead_of_krbtgt(RealmDb& db, AgentPipe& agent);

}  // namespace tkdc::migrate
