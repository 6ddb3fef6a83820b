// SPDX-License-Identifier: Apache-2.0
// The ways in which a corrupted agent can tell the servers different things
// about one job. Each must be noticed by the servers before they compute:
// from "same answer or not" an agent would otherwise learn bits of a key
// (docs/security.md, admission of a job).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rogue.h"

namespace tkdc::agent {

struct Trick {
  std::string name;
  std::function<void(Jobs3&)> apply;
  std::optional<std::size_t> left_out;  // this server gets no job at all
};

// Those that make sense for the operation: no component of an empty input can
// be altered, and a usage means nothing to key management.
std::vector<Trick> tricks_for(const JobRequest& job, bool has_input);

}  // namespace tkdc::agent
