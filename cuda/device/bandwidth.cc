// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/bandwidth.h"

#include <chrono>

#include "cuda/device/memory.h"

namespace tkdc::cuda {
namespace {

using Clock = std::chrono::steady_clock;

// One direction: memory at both ends, and a queue.
class Direction final : public Step {
 public:
  Direction(Driver& driver, std::size_t octets, bool to_device)
      : octets_(octets), to_device_(to_device), device_(driver, Arena::Where::kDevice),
        pinned_(driver, Arena::Where::kPinned) {}

  Result<void> prepare(Driver& driver) {
    for (Arena* arena : {&device_, &pinned_}) {
      arena->plan(octets_);
      if (auto done = arena->allocate(); !done) return done;
    }
    auto queue = driver.make_queue();
    if (!queue) return queue.error();
    queue_ = std::move(*queue);
    return {};
  }
  void record(Recorder& to) const override {
    if (to_device_)
      to.copy_in(device_.memory(), pinned_.memory(), octets_);
    else
      to.copy_out(pinned_.memory(), device_.memory(), octets_);
  }
  // Without a name, so that no graph is made in the time that is measured.
  void start() { queue_->submit("", *this); }
  Result<void> finish() { return queue_->finish(); }

 private:
  const std::size_t octets_;
  const bool to_device_;
  Arena device_, pinned_;
  std::unique_ptr<Queue> queue_;  // goes first: it waits for what is under way
};

// Octets in a second, in each of the directions; the first copies are not timed.
Result<double> rate(std::initializer_list<Direction*> directions, const BandwidthOptions& o) {
  auto begin = Clock::now();
  for (std::size_t copies = 0;; ++copies) {
    for (Direction* one : directions) one->start();
    for (Direction* one : directions)
      if (auto done = one->finish(); !done) return done.error();
    if (copies == 0) {
      begin = Clock::now();
      continue;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds >= o.seconds) return static_cast<double>(copies * o.octets) / seconds;
  }
}

}  // namespace

Result<Bandwidth> measure_bandwidth(Driver& driver, const BandwidthOptions& options) {
  Direction to(driver, options.octets, true), from(driver, options.octets, false);
  for (Direction* one : {&to, &from})
    if (auto done = one->prepare(driver); !done) return done.error();
  Bandwidth found;
  auto alone = rate({&to}, options);
  if (!alone) return alone.error();
  found.to_device = *alone;
  alone = rate({&from}, options);
  if (!alone) return alone.error();
  found.from_device = *alone;
  auto both = rate({&to, &from}, options);
  if (!both) return both.error();
  found.both_each_way = *both;
  return found;
}

}  // namespace tkdc::cuda
