// SPDX-License-Identifier: Apache-2.0
// What the jobs of tkdc bench's lanes compute, cohort after cohort (lane.h): AES in counter
// mode, or SHA-1. Secret: everything but what is opened at the end. One lane's thread.
#pragma once

#include <functional>

#include "rep3/unit/rep3_protocol.h"

namespace tkdc::bench {

class BenchWorkload {
 public:
  virtual ~BenchWorkload() = default;
  // Of a cohort; and how many blocks or compressions each of them is.
  virtual std::size_t jobs() const = 0;
  virtual std::size_t units() const = 0;
  // Draws what all cohorts share.
  virtual Task<void> prepare() = 0;
  // One job of cohort `counter`. `out` is an earlier result, whose memory may be used again.
  virtual Task<void> compute(std::size_t job, std::uint64_t counter, SharedBytes& out) = 0;
  // Opens the last job's secrets and its result in cohort `counter`; then check() compares them
  // with OpenSSL.
  virtual Task<void> open(std::uint64_t counter, const SharedBytes& result) = 0;
  virtual Result<void> check() const = 0;
};

using MakeWorkload = std::function<std::unique_ptr<BenchWorkload>(Rep3&, Rep3Protocol&)>;

// AES in counter mode: jobs of 16 counter blocks, each with a key of its own.
MakeWorkload ctr_workload(std::size_t key_bytes, std::size_t cohort_blocks);

// SHA-1 in the shape of the fewest bits, which bulk work takes: each job a message of its own that
// pads to one block.
MakeWorkload sha1_workload(std::size_t cohort_compressions);

}  // namespace tkdc::bench
