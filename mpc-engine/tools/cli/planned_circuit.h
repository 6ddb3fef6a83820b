// SPDX-License-Identifier: Apache-2.0
// What commands that plan a reserve have in common: which circuits a login asks for, as an
// administrator writes them, and how figures are written.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace tkdc::cli {

struct PlannedCircuit {
  std::string name;         // of the catalogue, with its size
  std::uint64_t times = 1;  // in a login
};

// NAME[:SIZE][=TIMES]. Error: TIMES is none, with what it may be. Whether there is such a circuit,
// the caller finds.
Result<PlannedCircuit> planned_circuit(const std::string& text);

std::string rounded(double value, int digits = 1);

}  // namespace tkdc::cli
