// SPDX-License-Identifier: Apache-2.0
// tkdc bench check: one party's work in the check of malicious mode (docs/protocols/12), step by
// step, on this CPU and on a device: what it costs to verify what was computed, without rounds and
// network. Claims are of random octets, which no batch would pass; the work is the same.
#pragma once

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "rep3/verify/octet_device.h"

namespace tkdc::bench {

enum class Claims : std::uint8_t { kSboxes, kBits };

struct CheckBench {
  Claims claims = Claims::kSboxes;
  std::size_t products = 16'384;  // of the inner product: one of a block and round, or of 16 bits
  double seconds = 0.5;
};

struct CheckCost {
  std::size_t products = 0;                     // whole blocks
  double points_s = 0, lift_s = 0, fold_s = 0;  // of a batch; points with its way to the device
  Bytes course;                                 // what a party would have sent
};

// Null: this CPU. Error: the device did not take the batch, or failed.
Result<CheckCost> measure_check(OctetDevice* device, const CheckBench& bench);

void add_check(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
