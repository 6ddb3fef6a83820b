// SPDX-License-Identifier: Apache-2.0
// tkdc bench ctr and sha1 --exchange tls: the three parties as three processes with TLS between
// them on loopback. Each lane keeps one cohort of the workload's jobs in flight; one job of the
// last is opened and checked against OpenSSL.
#pragma once

#include "tools/bench/parties.h"
#include "tools/bench/workload.h"

namespace tkdc::bench {

struct TlsBench {
  MakeWorkload workload;
  std::string unit = "block";  // what is counted, and named in the report: "blocks_per_s"
  std::size_t cohort = 4096;   // of units
  double seconds = 5;
  BenchSetup setup;
};

Result<nlohmann::json> measure_tls(const TlsBench& bench);

}  // namespace tkdc::bench
