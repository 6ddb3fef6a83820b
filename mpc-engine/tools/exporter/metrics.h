// SPDX-License-Identifier: Apache-2.0
// A status document (docs/man/tkdc.8, "status") as metrics: names, types and labels of
// what Prometheus scrapes. docs/operations.md lists them; no label holds a principal or a handle.
#pragma once

#include <prometheus/metric_family.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tkdc::exporter {

// `document`: an agent's, or a server's own (tools/cli/ask_status.h); null where nobody answered.
// Then it is tkdc_agent_up, or tkdc_server_up, that says so.
std::vector<prometheus::MetricFamily> metrics_of(const nlohmann::json& document,
                                                 bool of_server = false);

// Numbers and truths of a server's object that metrics_of() passes over, and not on purpose: what a
// newer release has added. Each as "field" or "object.field".
std::vector<std::string> fields_unknown(const nlohmann::json& document);

}  // namespace tkdc::exporter
