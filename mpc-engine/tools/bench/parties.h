// SPDX-License-Identifier: Apache-2.0
// Three parties on this machine for tkdc bench: a process each, in session over TLS on
// loopback.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "rep3/unit/aes/cohort.h"
#include "session/session.h"

namespace tkdc::bench {

struct BenchSetup {
  int lanes = 1;
  std::string backend = "auto", security = "malicious", records = "auto", zero_shares = "auto";
};

// What a party does once it is in session, in its own process; its report.
using BenchWork =
    std::function<Result<nlohmann::json>(Session& session, const Rep3Backend& backend)>;

// The three parties' reports, in their order; each names the backend and the TLS records'
// library. Error: of the first party that failed.
Result<nlohmann::json> run_three_parties(const BenchSetup& setup, const BenchWork& work);

}  // namespace tkdc::bench
