// SPDX-License-Identifier: Apache-2.0
// What operations took, as a status says it (docs/protocols/04-control-plane.md), and its
// quantiles: for `tkdc status`, `tkdc top` and tkdc-exporter. A status comes from a daemon that may
// be another version's, or say what it likes: what does not fit together is left out.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tkdc::cli {

struct OperationTime {
  std::string operation;              // one that this program knows
  std::vector<double> bounds_ms;      // ascending
  std::vector<std::uint64_t> counts;  // one more: of what took longer
  double seconds = 0;                 // of all
  std::uint64_t rounds = 0, message_bytes = 0;

  std::uint64_t count() const;
};

// `object`: a server's, or an agent's document.
std::vector<OperationTime> times_of(const nlohmann::json& object);

// How long checks of what a server's jobs computed took, and of how many claims they were. Nothing:
// it says none.
struct VerificationTime {
  OperationTime time;  // of no operation
  std::uint64_t claims = 0;
};
std::optional<VerificationTime> verification_of(const nlohmann::json& server);

// What came after `before`. All of it, where the process that counts has begun anew meanwhile.
std::vector<OperationTime> times_since(std::vector<OperationTime> now,
                                       const std::vector<OperationTime>& before);

// Of all operations together; of those with other bounds than the first one's nothing.
OperationTime together(const std::vector<OperationTime>& times);

// Within a bucket as if evenly spread, as Prometheus has it; beyond the last bound: that bound. No
// operation: 0. `part`: 0.5 for the median.
double quantile_ms(const OperationTime& of, double part);

}  // namespace tkdc::cli
