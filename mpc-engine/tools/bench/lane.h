// SPDX-License-Identifier: Apache-2.0
// One lane of tkdc bench at one party: cohort after cohort of its workload's jobs. As in a
// server, a cohort starts when the one before has its results, which wait meanwhile for
// their verification: in malicious mode two cohorts' results exist at a time.
#pragma once

#include "lane/ticker.h"
#include "tools/bench/workload.h"

namespace tkdc::bench {

struct BenchCounts {
  std::uint64_t units = 0, message_bytes = 0, packet_bytes = 0, rounds_per_cohort = 0;
};

class BenchLane final : private Ticker::Owner {
 public:
  BenchLane(const Session& session, LaneLink& lane, const Rep3Backend& backend,
            const MakeWorkload& make);

  Result<void> prepare();
  // Runs cohorts until party 0 says that the time is over.
  Result<void> measure(double seconds);
  // Opens one job's secrets and result and compares with OpenSSL.
  Result<void> check();

  const BenchCounts& counts() const { return counts_; }

 private:
  std::optional<Ticker::OwnControl> say() override;
  Result<void> hear(const Ticker::Control& control) override;
  bool enough() const override;
  Task<void> draw();
  Task<void> run(std::size_t job);
  Task<void> release(std::uint64_t counter);
  std::vector<SharedBytes>& results(std::uint64_t counter) { return out_[counter % kKept]; }

  const int party_;
  Link& link_;
  Lane lane_;
  Rep3 rep3_;
  Rep3Protocol protocol_;
  Ticker ticker_;
  const std::unique_ptr<BenchWorkload> workload_;
  const std::size_t jobs_;
  static constexpr std::uint64_t kKept = 2;
  std::vector<SharedBytes> out_[kKept];  // of cohorts, by their counters
  std::uint64_t started_[kKept] = {};    // their first rounds
  std::uint64_t counter_ = 0, released_ = 0;
  std::size_t computing_ = 0;  // jobs of the last cohort
  bool stop_ = false;
  bool speaks_ = false;         // in the next tick
  bool computed_only_ = false;  // a cohort is enough when it has its results
  BenchCounts counts_;
};

}  // namespace tkdc::bench
