// SPDX-License-Identifier: Apache-2.0
// tkdc bench ctr --exchange device | none: cohorts that stay in a GPU's memory
// (cuda/device/resident.h), with three parties or the local work of one.
#pragma once

#include <nlohmann/json.hpp>

#include "cuda/device/driver.h"
#include "net/zero_generator.h"

namespace tkdc::cli {

struct ResidentBench {
  int aes = 128;
  std::size_t cohort_blocks = 4096;
  double seconds = 5;
  bool exchange = true;  // three parties; false: one alone
  ZeroGenerator zero_shares = ZeroGenerator::kChaCha20;
};

// The report, once the result has been found right: of three parties against OpenSSL's AES, of
// one against the CPU's cohort given the same.
Result<nlohmann::json> measure_resident(cuda::Driver& driver, const ResidentBench& bench);

}  // namespace tkdc::cli
