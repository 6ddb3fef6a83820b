// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/lane.h"

#include <chrono>
#include <utility>

namespace tkdc::bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

BenchLane::BenchLane(const Session& session, LaneLink& lane, const Rep3Backend& backend,
                     const MakeWorkload& make)
    : party_(session.party), link_(*lane.link), lane_(session.party, session.security),
      rep3_(lane_, session.representation, lane.keys), protocol_(rep3_, backend),
      ticker_(lane_, link_), workload_(make(rep3_, protocol_)), jobs_(workload_->jobs()) {}

// In a cohort's first tick party 0 says whether this cohort is the last.
std::optional<Ticker::OwnControl> BenchLane::say() {
  if (!std::exchange(speaks_, false)) return std::nullopt;
  Ticker::OwnControl own;
  if (party_ == 0) own.to_both = Bytes(1, stop_ ? 1 : 0);
  return own;
}

Result<void> BenchLane::hear(const Ticker::Control& control) {
  if (party_ == 0) return {};
  const ByteSpan said = (party_ == 1 ? control.prev : control.next).to_both;
  if (said.size() != 1) return fail("bench: party 0 said nothing");
  stop_ = said[0] == 1;
  return {};
}

// The last cohort has its results and the one before was released.
bool BenchLane::enough() const {
  return computed_only_ && computing_ == 0 && released_ + kKept > counter_;
}

Task<void> BenchLane::draw() {
  co_await workload_->prepare();
  co_await rep3_.verified();
}

Result<void> BenchLane::prepare() {
  for (auto& out : out_) out.resize(jobs_);
  lane_.spawn(draw());
  return ticker_.run(*this);
}

Task<void> BenchLane::run(std::size_t job) {
  co_await workload_->compute(job, counter_, results(counter_)[job]);
  if (--computing_ == 0) lane_.spawn(release(counter_));
}

Task<void> BenchLane::release(std::uint64_t counter) {
  co_await rep3_.verified();
  released_ = counter;
  counts_.units += jobs_ * workload_->units();
  counts_.rounds_per_cohort = lane_.rounds() - started_[counter % kKept];
}

Result<void> BenchLane::measure(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const std::uint64_t bytes_before = rep3_.layer_bytes();
  const std::uint64_t packets_before = link_.counters().packet_bytes_sent;
  while (!stop_) {
    ++counter_;
    if (party_ == 0) stop_ = Clock::now() >= end;
    computing_ = jobs_;
    started_[counter_ % kKept] = lane_.rounds();
    for (std::size_t k = 0; k < jobs_; ++k) lane_.spawn(run(k));
    speaks_ = true;
    computed_only_ = !stop_;
    if (auto done = ticker_.run(*this); !done) return done;
  }
  computed_only_ = false;
  if (auto done = ticker_.run(*this); !done) return done;
  counts_.message_bytes = rep3_.layer_bytes() - bytes_before;
  counts_.packet_bytes = link_.counters().packet_bytes_sent - packets_before;
  return {};
}

Result<void> BenchLane::check() {
  lane_.spawn(workload_->open(counter_, results(counter_).back()));
  if (auto done = ticker_.run(*this); !done) return done;
  return workload_->check();
}

}  // namespace tkdc::bench
