// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/lane.h"

#include <chrono>

namespace tkdc::bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

BenchLane::BenchLane(const Session& session, Lane& lane, const AesBackend& backend,
                     const MakeWorkload& make)
    : party_(session.party), link_(*lane.link),
      rep3_(session.party, session.representation, lane.keys, session.security),
      protocol_(rep3_, backend), ticker_(rep3_, link_), workload_(make(rep3_, protocol_)),
      jobs_(workload_->jobs()) {}

// Ticks until no protocol waits, or the last cohort has its results and the one before
// was released. The first tick may be full: party 0 says in it whether this cohort is the
// last.
Result<void> BenchLane::drain(bool full_first, bool computed_only) {
  bool full = full_first;
  while (rep3_.advance()) {
    if (computed_only && computing_ == 0 && released_ + kKept > counter_) break;
    if (rep3_.deviation()) return fail("bench: " + *rep3_.deviation());
    Ticker::OwnControl own;
    if (full && party_ == 0) own.to_both = Bytes(1, stop_ ? 1 : 0);
    auto control = ticker_.tick(full, own);
    if (!control) return control.error();
    if (full && party_ != 0) {
      ByteSpan said = (party_ == 1 ? control->prev : control->next).to_both;
      if (said.size() != 1) return fail("bench: party 0 said nothing");
      stop_ = said[0] == 1;
    }
    full = false;
  }
  return {};
}

Task<void> BenchLane::draw() {
  co_await workload_->prepare();
  co_await rep3_.verified();
}

Result<void> BenchLane::prepare() {
  for (auto& out : out_) out.resize(jobs_);
  rep3_.spawn(draw());
  return drain(false);
}

Task<void> BenchLane::run(std::size_t job) {
  co_await workload_->compute(job, counter_, results(counter_)[job]);
  if (--computing_ == 0) rep3_.spawn(release(counter_));
}

Task<void> BenchLane::release(std::uint64_t counter) {
  co_await rep3_.verified();
  released_ = counter;
  counts_.units += jobs_ * workload_->units();
  counts_.rounds_per_cohort = rep3_.rounds() - started_[counter % kKept];
}

Result<void> BenchLane::measure(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const std::uint64_t bytes_before = rep3_.layer_bytes();
  const std::uint64_t packets_before = link_.counters().packet_bytes_sent;
  while (!stop_) {
    ++counter_;
    if (party_ == 0) stop_ = Clock::now() >= end;
    computing_ = jobs_;
    started_[counter_ % kKept] = rep3_.rounds();
    for (std::size_t k = 0; k < jobs_; ++k) rep3_.spawn(run(k));
    if (auto done = drain(true, !stop_); !done) return done.error();
  }
  if (auto done = drain(false); !done) return done.error();
  counts_.message_bytes = rep3_.layer_bytes() - bytes_before;
  counts_.packet_bytes = link_.counters().packet_bytes_sent - packets_before;
  return {};
}

Result<void> BenchLane::check() {
  rep3_.spawn(workload_->open(counter_, results(counter_).back()));
  if (auto done = drain(false); !done) return done.error();
  return workload_->check();
}

}  // namespace tkdc::bench
