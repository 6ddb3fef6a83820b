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

struct Histogram {
  std::vector<double> bounds;         // ascending
  std::vector<std::uint64_t> counts;  // one more: of what is beyond all bounds
  double sum = 0;                     // of what was counted

  std::uint64_t count() const;
};

struct OperationTime {
  std::string operation;            // one that this program knows
  Histogram ms;                     // milliseconds
  Histogram rounds, message_bytes;  // without bounds, where an older server says the sum alone

  std::uint64_t count() const { return ms.count(); }
};

// `object`: a server's, or an agent's document.
std::vector<OperationTime> times_of(const nlohmann::json& object);

// How long checks of what a server's jobs computed took, and of how many claims they were. Nothing:
// it says none.
struct VerificationTime {
  Histogram ms;
  std::uint64_t claims = 0;
};
std::optional<VerificationTime> verification_of(const nlohmann::json& server);

// What came after `before`. All of it, where the process that counts has begun anew meanwhile.
std::vector<OperationTime> times_since(std::vector<OperationTime> now,
                                       const std::vector<OperationTime>& before);

// How long all operations together took; of those with other bounds than the first one's nothing.
Histogram together(const std::vector<OperationTime>& times);

// Within a bucket as if evenly spread, as Prometheus has it; beyond the last bound: that bound. No
// operation: 0. `part`: 0.5 for the median.
double quantile(const Histogram& of, double part);

}  // namespace tkdc::cli
