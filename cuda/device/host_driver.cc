// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/host_driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <type_traits>
#include <vector>

#include "base/secret.h"

namespace tkdc::cuda {
namespace {

// As a GPU does: block by block, all threads of a block prepare before one runs.
struct HostLoop {
  const View& view;
  const Tick& tick;

  template <class Body>
  void run() const {
    const std::uint32_t threads = Body::threads(view);
    for (std::uint32_t first = 0; first < threads; first += kThreadsPerBlock) {
      typename Body::Shared shared{};
      for (std::uint32_t lane = 0; lane < kThreadsPerBlock; ++lane)
        Body::prepare(view, tick, lane, shared);
      const std::uint32_t end = std::min(threads, first + kThreadsPerBlock);
      if constexpr (Phased<Body>) {
        for (int phase = 0; phase < Body::kPhases; ++phase)
          for (std::uint32_t t = first; t < end; ++t) Body::run(view, tick, t, shared, phase);
      } else {
        for (std::uint32_t t = first; t < end; ++t) Body::run(view, tick, t, shared);
      }
      // Keys and zero-shares, on this thread's stack.
      if constexpr (!std::is_empty_v<typename Body::Shared>) sodium_memzero(&shared, sizeof shared);
    }
  }
};

struct Operation {
  enum class Kind : std::uint8_t { kCopy, kZero, kLaunch } kind;
  void* to;
  const void* from;
  std::size_t octets;
  Kernel kernel;
  View view;

  bool operator==(const Operation& other) const {
    return kind == other.kind && to == other.to && from == other.from && octets == other.octets &&
           kernel == other.kernel && view.blocks == other.view.blocks &&
           view.state[0] == other.view.state[0] && view.input[0] == other.view.input[0] &&
           view.message_octets[0] == other.view.message_octets[0] &&
           view.bits.planes == other.view.bits.planes &&
           view.bits.packed[0][0] == other.view.bits.packed[0][0] && view.task == other.view.task;
  }
};

class List final : public Recorder {
 public:
  void copy_in(void* device, const void* pinned, std::size_t octets) override {
    operations.push_back({Operation::Kind::kCopy, device, pinned, octets, Kernel::kCount, {}});
  }
  void copy_out(void* pinned, const void* device, std::size_t octets) override {
    copy_in(pinned, device, octets);
  }
  void copy_within(void* to, const void* from, std::size_t octets) override {
    copy_in(to, from, octets);
  }
  void zero(void* device, std::size_t octets) override {
    operations.push_back({Operation::Kind::kZero, device, nullptr, octets, Kernel::kCount, {}});
  }
  void launch(Kernel kernel, const View& view, const Tick* tick) override {
    operations.push_back({Operation::Kind::kLaunch, nullptr, tick, 0, kernel, view});
  }
  std::vector<Operation> operations;
};

}  // namespace

void run_on_host(Kernel kernel, const View& view, const Tick& tick) {
  with_body(kernel, HostLoop{view, tick});
}

class HostQueue final : public Queue {
 public:
  explicit HostQueue(HostDriver& driver) : driver_(driver) {}

  void submit(const std::string& name, const Step& step) override {
    failed_ |= driver_.fails();
    List list;
    step.record(list);
    if (!name.empty()) {
      auto [known, added] = graphs_.try_emplace(name, list.operations);
      if (!added && known->second != list.operations)
        driver_.misuse_ = "step '" + name + "' is not what was captured under its name";
    }
    waiting_.insert(waiting_.end(), list.operations.begin(), list.operations.end());
  }

  Result<void> finish() override {
    failed_ |= driver_.fails();
    std::vector<Operation> operations;
    operations.swap(waiting_);
    if (failed_) return fail("host device: told to fail");
    for (const Operation& op : operations) {
      if (op.kind == Operation::Kind::kCopy)
        std::memcpy(op.to, op.from, op.octets);
      else if (op.kind == Operation::Kind::kZero)
        std::memset(op.to, 0, op.octets);
      else
        run_on_host(op.kernel, op.view, *static_cast<const Tick*>(op.from));
    }
    return {};
  }

 private:
  HostDriver& driver_;
  bool failed_ = false;
  std::vector<Operation> waiting_;
  std::map<std::string, std::vector<Operation>> graphs_;
};

Result<void*> HostDriver::allocate(std::size_t octets) {
  if (fails()) return fail("host device: told to have no memory");
  if (octets > octets_ - std::min(octets_, octets_held()))
    return fail("host device: no memory left");
  void* memory = std::aligned_alloc(256, (octets + 255) / 256 * 256);
  if (memory == nullptr) return fail("host device: out of memory");
  std::memset(memory, 0, octets);
  held_ += octets;
  return memory;
}

void HostDriver::release(void* memory, std::size_t octets) noexcept {
  if (memory == nullptr) return;
  sodium_memzero(memory, octets);
  std::free(memory);
  held_ -= octets;
}

Result<void> HostDriver::state() {
  if (operations_ >= fail_at_) return fail("host device: told to fail");
  return {};
}

Result<std::unique_ptr<Queue>> HostDriver::make_queue() {
  if (fails()) return fail("host device: told to have no queue");
  return std::unique_ptr<Queue>(std::make_unique<HostQueue>(*this));
}

}  // namespace tkdc::cuda
