// SPDX-License-Identifier: Apache-2.0
// One run of a plan, from the boot of its hosts to the verdict.
#pragma once

#include <map>
#include <string>

#include "sim/plan.h"

namespace tkdc::sim {

struct Outcome {
  std::string invariant, how;  // empty: all held
  std::string digest;          // of the run's course
  std::string octets;          // and of what servers sent to each other
  std::uint64_t operations = 0, answered = 0, logins = 0, packets = 0, steps = 0;
  std::int64_t most_memory = 0;  // of a server, in octets
  std::map<std::string, std::uint64_t> injected, reached;
};

// `talks`: the timeline on stdout.
Outcome run(const Plan& plan, bool talks);

// The smallest plan found in which the same invariant falls.
Plan shrink(Plan plan, const std::string& invariant);

}  // namespace tkdc::sim
