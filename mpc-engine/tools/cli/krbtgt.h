// SPDX-License-Identifier: Apache-2.0
// Whether the servers hold the key that the realm's tickets are sealed under, as the database names
// it. An older dump that was loaded names one that is gone: then nobody logs in, while agents and
// servers are well.
//
// Called by `tkdc status` on a KDC's host. It asks tkdc-reconcile, which reads the database as
// kadmin.local does; who may not read that is told nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tkdc::cli {

// What is wrong with a krbtgt without its key, of which `keys` says which in words; and what to do.
std::string krbtgt_is_dead(const std::string& keys);
inline constexpr const char* kKrbtgtRemedy =
    "load the newest dump, or draw a new key: tkdc rotate krbtgt --now; tkdc reconcile names all "
    "that is dead";

// `document`: an agent's. Sets `krbtgt_held` where that is known, and `database_error` where it is
// not so. Where something else is wrong already, nothing is asked.
void look_at_krbtgt(nlohmann::json& document);

// The same by what tkdc-reconcile --krbtgt --json ended with and printed.
void take_krbtgt(nlohmann::json& document, int status, const std::string& said);

}  // namespace tkdc::cli
