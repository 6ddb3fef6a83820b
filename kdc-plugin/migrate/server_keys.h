// SPDX-License-Identifier: Apache-2.0
// All keys that the three servers hold, asked page by page of the admin agent, and what of a
// database they do not hold. Nothing here is secret.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "migrate/agent_pipe.h"
#include "migrate/exporter.h"
#include "service/wire/key_list.h"

namespace tkdc::migrate {

using KeysHeld = std::map<KeyId, ListedKey>;

// Error: a server is away, or says something else than the two others do, also when asked anew; or
// servers of a release that does not list keys.
Result<KeysHeld> list_server_keys(AgentPipe& agent);

// A page of LIST or LIST_DROPPED behind `after`: asked anew where a server has a key a moment
// before another. `what`: "keys", for the error.
Result<Bytes> list_page(AgentPipe& agent, tkdc_wire_op op, const KeyId& after,
                        const std::string& what);

// "alice@R, version 2: aes256-cts-hmac-sha1-96 (18)"
std::string describe(const ExportKey& key);
std::string describe(const ListedKey& key);

// Handles of entries that no server's key belongs to: whoever has nothing else cannot log in.
std::vector<ExportKey> dead_handles(const HandleSurvey& found, const KeysHeld& held);
// The same of password histories: these passwords can be taken again.
std::vector<RememberedHandle> dead_remembered(const HandleSurvey& found, const KeysHeld& held);
// Keys at the servers that nothing in the database names. `realm`: other realms' keys are not
// looked at, since their databases may name them.
std::vector<ListedKey> orphans(const HandleSurvey& found, const KeysHeld& held,
                               const std::string& realm);

}  // namespace tkdc::migrate
