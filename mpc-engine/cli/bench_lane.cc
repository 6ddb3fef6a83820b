// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_lane.h"

#include <endian.h>

#include <algorithm>
#include <chrono>

#include "cli/bench_reference.h"

namespace tkdc::cli {
namespace {

using Clock = std::chrono::steady_clock;

// 16 counter blocks: job in the upper half, cohort counter and block below.
std::array<std::uint8_t, 16 * BenchLane::kJobBlocks> counter_blocks(std::size_t job,
                                                                    std::uint64_t counter) {
  std::array<std::uint8_t, 16 * BenchLane::kJobBlocks> out;
  for (std::size_t b = 0; b < BenchLane::kJobBlocks; ++b) {
    const std::uint64_t words[2] = {htobe64(job), htobe64(counter * BenchLane::kJobBlocks + b)};
    std::memcpy(out.data() + 16 * b, words, sizeof words);
  }
  return out;
}

}  // namespace

BenchLane::BenchLane(const Session& session, Lane& lane, const AesBackend& backend,
                     const BenchLaneOptions& options)
    : party_(session.party), options_(options), link_(*lane.link),
      rep3_(session.party, session.representation, lane.keys, session.security),
      ciphers_(rep3_, backend), ticker_(rep3_, link_), jobs_(options.cohort_blocks / kJobBlocks) {}

// Ticks until no protocol waits, or the last cohort has its results and the one before
// was released. The first tick may be full: party 0 says in it whether this cohort is the
// last.
Result<void> BenchLane::drain(bool full_first, bool computed_only) {
  bool full = full_first;
  while (rep3_.advance()) {
    if (computed_only && computing_ == 0 && released_ + kKept > counter_) break;
    if (rep3_.deviation()) return fail("bench: " + *rep3_.deviation());
    Ticker::OwnControl own;
    if (full && party_ == 0) own.to_prev = own.to_next = Bytes(1, stop_ ? 1 : 0);
    auto control = ticker_.tick(full, own);
    if (!control) return control.error();
    if (full && party_ != 0) {
      ByteSpan said = party_ == 1 ? control->from_prev : control->from_next;
      if (said.size() != 1) return fail("bench: party 0 said nothing");
      stop_ = said[0] == 1;
    }
    full = false;
  }
  return {};
}

Task<void> BenchLane::draw_keys() {
  for (std::size_t k = 0; k < jobs_; ++k) keys_.push_back(rep3_.random(options_.key_bytes));
  round_keys_ = co_await aes_expand_keys(rep3_, keys_);
  co_await rep3_.verified();
}

Result<void> BenchLane::prepare() {
  for (auto& out : out_) out.resize(jobs_);
  rep3_.spawn(draw_keys());
  return drain(false);
}

// The job's counter blocks on shares, in the memory of a released output.
SharedBytes BenchLane::take_counters(std::size_t job) {
  SharedBytes in = std::move(results(counter_)[job]);
  in.resize(16 * kJobBlocks);
  for (SecretVector& component : in.component) std::ranges::fill(component, 0);
  xor_public(in, party_, counter_blocks(job, counter_));
  return in;
}

Task<void> BenchLane::encrypt(std::size_t job) {
  SharedBytes in = take_counters(job);
  SharedBytes& out = results(counter_)[job];
  out = co_await ciphers_.aes.encrypt(round_keys_[job], std::move(in));
  if (--computing_ == 0) rep3_.spawn(release(counter_));
}

Task<void> BenchLane::release(std::uint64_t counter) {
  co_await rep3_.verified();
  released_ = counter;
  counts_.blocks += jobs_ * kJobBlocks;
  counts_.rounds_per_cohort = rep3_.rounds() - started_[counter % kKept];
}

Result<void> BenchLane::measure() {
  const auto end = Clock::now() + std::chrono::duration<double>(options_.seconds);
  const std::uint64_t bytes_before = rep3_.layer_bytes();
  const std::uint64_t packets_before = link_.counters().packet_bytes_sent;
  while (!stop_) {
    ++counter_;
    if (party_ == 0) stop_ = Clock::now() >= end;
    computing_ = jobs_;
    started_[counter_ % kKept] = rep3_.rounds();
    for (std::size_t k = 0; k < jobs_; ++k) rep3_.spawn(encrypt(k));
    if (auto done = drain(true, !stop_); !done) return done.error();
  }
  if (auto done = drain(false); !done) return done.error();
  counts_.message_bytes = rep3_.layer_bytes() - bytes_before;
  counts_.packet_bytes = link_.counters().packet_bytes_sent - packets_before;
  return {};
}

Task<void> BenchLane::open_job() {
  opened_key_ = co_await rep3_.open(keys_.back());
  opened_out_ = co_await rep3_.open(results(counter_).back());
}

Result<void> BenchLane::check() {
  rep3_.spawn(open_job());
  if (auto done = drain(false); !done) return done.error();
  auto expected = openssl_encrypt(opened_key_, counter_blocks(jobs_ - 1, counter_));
  if (!expected) return expected.error();
  if (*expected != opened_out_)
    return fail("bench: the parties' result differs from OpenSSL's AES");
  return {};
}

}  // namespace tkdc::cli
