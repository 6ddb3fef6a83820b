// SPDX-License-Identifier: Apache-2.0
// tkdc bench ctr --exchange device | none | host: cohorts whose state stays in a GPU's memory
// (cuda/device/resident.h), with three parties or the local work of one; and the same work of one
// on the CPU, to compare.
#pragma once

#include <nlohmann/json.hpp>

#include "cuda/device/bandwidth.h"
#include "cuda/device/resident.h"
#include "rep3/unit/aes/cohort.h"

namespace tkdc::bench {

struct ResidentBench {
  int aes = 128;
  std::size_t cohort_blocks = 4096;
  double seconds = 5;
  cuda::ResidentExchange exchange = cuda::ResidentExchange::kDevice;
  ZeroGenerator zero_shares = ZeroGenerator::kChaCha20;
  std::size_t lanes = 1;  // cohorts under way at once, by one thread
  // With transfers: of the link, which the report compares with.
  std::optional<cuda::Bandwidth> bandwidth;
};

const char* exchange_name(cuda::ResidentExchange exchange);

// The report, once the result has been found right: of three parties against OpenSSL's AES, of
// one against the CPU's cohort given the same, with transfers its messages too.
Result<nlohmann::json> measure_resident(cuda::Driver& driver, const ResidentBench& bench);

// One party's local work by this backend, in one thread: of `bench` only the key's length, the
// cohort, the generator and the time count. Checked against the scalar backend.
Result<nlohmann::json> measure_cpu_party(const Rep3Backend& cpu, const ResidentBench& bench);

}  // namespace tkdc::bench
