// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/zero_rate.h"

#include <algorithm>
#include <chrono>

#include "cuda/device/memory.h"
#include "cuda/device/zero_tick.h"

namespace tkdc::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLaunches = 16;  // between two waits

class Message {
 public:
  Message(Driver& driver, ZeroGenerator generator, std::size_t octets)
      : generator_(generator), octets_(octets), device_(driver, Arena::Where::kDevice),
        pinned_(driver, Arena::Where::kPinned) {
    randombytes_buf(mine_.data(), mine_.size());
    randombytes_buf(next_.data(), next_.size());
  }

  Result<void> prepare(Driver& driver) {
    for (Arena* arena : {&device_, &pinned_}) {
      arena->plan(sizeof(Tick));
      arena->plan(octets_);
      if (auto done = arena->allocate(); !done) return done;
    }
    device_tick_ = device_.take<Tick>(sizeof(Tick));
    tick_ = pinned_.take<Tick>(sizeof(Tick));
    view_.mine[0] = device_.take<Word>(octets_);
    out_ = pinned_.take<std::uint8_t>(octets_);
    view_.message_octets[0] = static_cast<std::uint32_t>(octets_);
    zero_ = make_zero_stream({mine_.span(), next_.span(), kRatchetBytes, generator_});
    kernel_ = set_zero_share(
        *tick_, {{zero_->key(0, 0, octets_), zero_->key(1, 0, octets_)}, 0, generator_});
    auto queue = driver.make_queue();
    if (!queue) return queue.error();
    queue_ = std::move(*queue);
    return {};
  }

  // The message was zero.
  Result<void> check() {
    queue_->submit("check", Masks(*this, 1, true));
    if (auto done = queue_->finish(); !done) return done;
    SecretVector expected(octets_);
    zero_->next(expected.data(), octets_);
    if (!std::equal(expected.begin(), expected.end(), out_))
      return fail("bench: the device's zero-shares differ from the CPU's");
    return {};
  }
  Result<void> again() {
    queue_->submit("masks", Masks(*this, kLaunches, false));
    return queue_->finish();
  }

 private:
  class Masks final : public Step {
   public:
    Masks(const Message& message, int launches, bool read)
        : it_(message), launches_(launches), read_(read) {}
    void record(Recorder& to) const override {
      to.copy_in(it_.device_tick_, it_.tick_, sizeof *it_.tick_);
      for (int k = 0; k < launches_; ++k) to.launch(it_.kernel_, it_.view_, it_.device_tick_);
      if (read_) to.copy_out(it_.out_, it_.view_.mine[0], it_.octets_);
    }

   private:
    const Message& it_;
    const int launches_;
    const bool read_;
  };

  const ZeroGenerator generator_;
  const std::size_t octets_;
  SecretBuffer mine_{32}, next_{32};
  Arena device_, pinned_;
  View view_{};
  Tick *device_tick_ = nullptr, *tick_ = nullptr;
  std::uint8_t* out_ = nullptr;
  std::unique_ptr<ZeroStream> zero_;
  Kernel kernel_ = Kernel::kMaskAes0;
  std::unique_ptr<Queue> queue_;  // goes first: it waits for what is under way
};

}  // namespace

Result<double> measure_zero_shares(Driver& driver, ZeroGenerator generator,
                                   const ZeroRateOptions& options) {
  Message message(driver, generator, options.octets);
  if (auto done = message.prepare(driver); !done) return done.error();
  if (auto done = message.check(); !done) return done.error();
  for (int time = 0; time < 2; ++time)  // in the second the graph is made
    if (auto done = message.again(); !done) return done.error();
  const auto begin = Clock::now();
  for (std::size_t masks = kLaunches;; masks += kLaunches) {
    if (auto done = message.again(); !done) return done.error();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds >= options.seconds) return static_cast<double>(masks * options.octets) / seconds;
  }
}

}  // namespace tkdc::cuda
