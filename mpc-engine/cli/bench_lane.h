// SPDX-License-Identifier: Apache-2.0
// One lane of tkdc bench at one party: cohort after cohort of counter blocks. As in a
// server, a cohort starts when the one before has its results, which wait meanwhile for
// their verification: in malicious mode two cohorts' results exist at a time.
#pragma once

#include "cipher/ciphers.h"
#include "job/ticker.h"

namespace tkdc::cli {

struct BenchLaneOptions {
  std::size_t key_bytes;
  std::size_t cohort_blocks;
  double seconds;
};

struct BenchCounts {
  std::uint64_t blocks = 0, message_bytes = 0, packet_bytes = 0, rounds_per_cohort = 0;
};

class BenchLane {
 public:
  static constexpr std::size_t kJobBlocks = 16;

  BenchLane(const Session& session, Lane& lane, const AesBackend& backend,
            const BenchLaneOptions& options);

  // Draws and expands the jobs' keys.
  Result<void> prepare();
  // Runs cohorts until party 0 says that the time is over.
  Result<void> measure();
  // Opens one job's key and output and compares with OpenSSL.
  Result<void> check();

  const BenchCounts& counts() const { return counts_; }

 private:
  Result<void> drain(bool full_first, bool computed_only = false);
  Task<void> draw_keys();
  SharedBytes take_counters(std::size_t job);
  Task<void> encrypt(std::size_t job);
  Task<void> release(std::uint64_t counter);
  std::vector<SharedBytes>& results(std::uint64_t counter) { return out_[counter % kKept]; }
  Task<void> open_job();

  const int party_;
  const BenchLaneOptions options_;
  Link& link_;
  Rep3 rep3_;
  Ciphers ciphers_;
  Ticker ticker_;
  std::size_t jobs_;
  std::vector<SharedBytes> keys_, round_keys_;
  static constexpr std::uint64_t kKept = 2;
  std::vector<SharedBytes> out_[kKept];  // of cohorts, by their counters
  std::uint64_t started_[kKept] = {};    // their first rounds
  std::uint64_t counter_ = 0, released_ = 0;
  std::size_t computing_ = 0;  // jobs of the last cohort
  Bytes opened_key_, opened_out_;
  bool stop_ = false;
  BenchCounts counts_;
};

}  // namespace tkdc::cli
