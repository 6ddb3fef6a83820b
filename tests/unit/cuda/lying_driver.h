// SPDX-License-Identifier: Apache-2.0
// A device that computes wrongly, for tests of what must find that.
#pragma once

#include "cuda/device/host_driver.h"

namespace tkdc::cuda {

// A host device that leaves something out, as a miscompiled one might.
class LyingDriver final : public Driver {
 public:
  struct LeftOut {
    Kernel kernel = Kernel::kCount;
    bool copies_within = false;  // its memory
    int copy_out = -1;           // to the host: of each step the first is 0
    std::size_t octets_out = 0;  // all copies of so many to the host
  };
  explicit LyingDriver(const LeftOut& left_out) : left_out_(left_out) {}
  // kCount: all copies within its memory.
  explicit LyingDriver(Kernel kernel) : left_out_{kernel, kernel == Kernel::kCount} {}
  std::string name() const override { return "liar"; }
  Result<void*> allocate(std::size_t octets) override { return host_.allocate(octets); }
  void release(void* memory, std::size_t octets) noexcept override {
    host_.release(memory, octets);
  }
  Result<void*> allocate_pinned(std::size_t octets) override { return host_.allocate(octets); }
  void release_pinned(void* memory, std::size_t octets) noexcept override {
    host_.release(memory, octets);
  }
  Result<void> state() override { return host_.state(); }
  Result<std::unique_ptr<Queue>> make_queue() override {
    auto queue = host_.make_queue();
    if (!queue) return queue.error();
    return std::unique_ptr<Queue>(std::make_unique<Liar>(std::move(*queue), left_out_));
  }

 private:
  struct Filter final : Recorder {
    Filter(Recorder& recorder, const LeftOut& its) : to(recorder), left_out(its) {}
    void copy_in(void* a, const void* b, std::size_t n) override { to.copy_in(a, b, n); }
    void copy_out(void* a, const void* b, std::size_t n) override {
      if (copies_out++ == left_out.copy_out || n == left_out.octets_out) return;
      to.copy_out(a, b, n);
    }
    void copy_within(void* a, const void* b, std::size_t n) override {
      if (!left_out.copies_within) to.copy_within(a, b, n);
    }
    void zero(void* a, std::size_t n) override { to.zero(a, n); }
    void launch(Kernel kernel, const View& view, const Tick* tick) override {
      if (kernel != left_out.kernel) to.launch(kernel, view, tick);
    }
    Recorder& to;
    LeftOut left_out;
    int copies_out = 0;
  };
  struct Lie final : Step {
    Lie(const Step& step, const LeftOut& its) : truth(step), left_out(its) {}
    void record(Recorder& to) const override {
      Filter filter(to, left_out);
      truth.record(filter);
    }
    const Step& truth;
    LeftOut left_out;
  };
  struct Liar final : Queue {
    Liar(std::unique_ptr<Queue> queue, const LeftOut& its)
        : host(std::move(queue)), left_out(its) {}
    void submit(const std::string& name, const Step& step) override {
      host->submit(name, Lie(step, left_out));
    }
    Result<void> finish() override { return host->finish(); }
    std::unique_ptr<Queue> host;
    LeftOut left_out;
  };

  HostDriver host_;
  LeftOut left_out_;
};

}  // namespace tkdc::cuda
