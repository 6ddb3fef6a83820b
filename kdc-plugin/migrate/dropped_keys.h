// SPDX-License-Identifier: Apache-2.0
// Keys that the servers have dropped (docs/protocols/28-dropped-keys.md), asked of the admin agent:
// which there are, how long they stay, and what becomes of them. Nothing here is secret.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "migrate/server_keys.h"
#include "service/export/give_back.h"

namespace tkdc::migrate {

// Ids ascending. Error: a server is away, or says something else than the two others do.
Result<std::vector<ListedDropped>> list_dropped_keys(AgentPipe& agent);

// The longest of what the servers' store.keep_dropped_days say. Error: none says it.
Result<std::uint32_t> keep_dropped_days(AgentPipe& agent);

// Of handles that no server's key belongs to: those that are dropped.
std::vector<ListedDropped> recoverable(const std::vector<ExportKey>& dead,
                                       const std::vector<ListedDropped>& dropped);

tkdc_wire_key wire_key(const ListedKey& key, const InstallationId& installation);

}  // namespace tkdc::migrate
