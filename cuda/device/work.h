// SPDX-License-Identifier: Apache-2.0
// A step that is put together at run time and has no name: it hardly comes again. Kernels' tasks
// stand in an area of pinned memory that has its like on the device: they are written there first,
// and the step copies them.
#pragma once

#include <cstring>
#include <stdexcept>
#include <vector>

#include "cuda/device/driver.h"

namespace tkdc::cuda {

// Pinned memory and as much on the device. Must not be filled again before the step that copies it
// is finished.
class Mirror {
 public:
  Mirror() = default;
  Mirror(void* pinned, void* device, std::size_t octets)
      : pinned_(static_cast<std::uint8_t*>(pinned)), device_(static_cast<std::uint8_t*>(device)),
        octets_(octets) {}
  // Room for n of T.
  template <class T>
  T* take(std::size_t n) {
    T* const part = reinterpret_cast<T*>(pinned_ + used_);
    used_ += rounded(n * sizeof(T));
    if (used_ > octets_) throw std::logic_error("cuda: tasks beyond their memory");
    return part;
  }
  template <class T>
  T* on_device(T* part) const {
    return reinterpret_cast<T*>(device_ + (reinterpret_cast<const std::uint8_t*>(part) - pinned_));
  }
  void clear() { used_ = 0; }
  const void* pinned() const { return pinned_; }
  void* device() const { return device_; }
  std::size_t used() const { return used_; }
  static constexpr std::size_t rounded(std::size_t octets) { return (octets + 15) / 16 * 16; }

 private:
  std::uint8_t *pinned_ = nullptr, *device_ = nullptr;
  std::size_t octets_ = 0, used_ = 0;
};

// What goes in goes first, all else in the order of the calls.
class Work final : public Step {
 public:
  // `tick`: device memory that a Tick has room in.
  explicit Work(const Tick* tick) : tick_(tick) {}

  void copy_in(void* device, const void* pinned, std::size_t octets) {
    add({Kind::kIn, device, pinned, octets, Kernel::kCount, 0});
  }
  void copy_out(void* pinned, const void* device, std::size_t octets) {
    add({Kind::kOut, pinned, device, octets, Kernel::kCount, 0});
  }
  // All that was taken of it.
  void copy_in(const Mirror& mirror) { copy_in(mirror.device(), mirror.pinned(), mirror.used()); }
  template <class T>
  void launch(Mirror& tasks, Kernel kernel, const T& task, std::size_t threads) {
    T* const place = tasks.take<T>(1);
    std::memcpy(place, &task, sizeof task);
    add({Kind::kLaunch, nullptr, tasks.on_device(place), 0, kernel,
         static_cast<std::uint32_t>(threads)});
  }

  void submit(Queue& queue) const { queue.submit("", *this); }
  void record(Recorder& to) const override {
    for (const bool first : {true, false})
      for (const Operation& op : operations_)
        if ((op.kind == Kind::kIn) == first) record(op, to);
  }

 private:
  enum class Kind : std::uint8_t { kIn, kLaunch, kOut };
  struct Operation {
    Kind kind;
    void* to;
    const void* from;
    std::size_t octets;
    Kernel kernel;
    std::uint32_t threads;
  };
  void add(const Operation& op) { operations_.push_back(op); }
  void record(const Operation& op, Recorder& to) const {
    if (op.kind == Kind::kIn) return to.copy_in(op.to, op.from, op.octets);
    if (op.kind == Kind::kOut) return to.copy_out(op.to, op.from, op.octets);
    View view{};
    view.blocks = op.threads;
    view.task = op.from;
    to.launch(op.kernel, view, tick_);
  }

  const Tick* tick_;
  std::vector<Operation> operations_;
};

}  // namespace tkdc::cuda
