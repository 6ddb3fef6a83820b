// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/check_memory.h"

#include <bit>

#include "base/secret.h"

namespace tkdc::cuda {

Result<std::unique_ptr<CheckMemory>> CheckMemory::make(Driver& driver, std::size_t device_octets,
                                                       std::size_t pinned_octets) {
  std::unique_ptr<CheckMemory> memory(new CheckMemory(driver));
  memory->device_.plan(device_octets);
  memory->pinned_.plan(pinned_octets);
  for (Arena* arena : {&memory->device_, &memory->pinned_})
    if (auto done = arena->allocate(); !done) return done.error();
  auto queue = driver.make_queue();
  if (!queue) return queue.error();
  memory->queue_ = std::move(*queue);
  return memory;
}

CheckMemory::~CheckMemory() {
  queue_.reset();  // waits: nothing may be under way when the memory goes
}

class CheckMemory::Wipe final : public Step {
 public:
  explicit Wipe(const Arena& device) : device_(device) {}
  void record(Recorder& to) const override { to.zero(device_.memory(), device_.octets()); }

 private:
  const Arena& device_;
};

Result<void> CheckMemory::wipe() {
  queue_->submit("wipe", Wipe(device_));
  if (auto done = queue_->finish(); !done) return done.error();
  sodium_memzero(pinned_.memory(), pinned_.octets());
  return {};
}

Result<std::unique_ptr<CheckMemory>> CheckPool::acquire(std::size_t device_octets,
                                                        std::size_t pinned_octets) {
  const Size size = {std::bit_ceil(device_octets), std::bit_ceil(pinned_octets)};
  {
    std::lock_guard lock(mutex_);
    auto& idle = idle_[size];
    if (!idle.empty()) {
      std::unique_ptr<CheckMemory> memory = std::move(idle.back());
      idle.pop_back();
      return memory;
    }
  }
  return CheckMemory::make(driver_, size.first, size.second);
}

void CheckPool::give_back(std::unique_ptr<CheckMemory> memory) {
  if (auto wiped = memory->wipe(); !wiped) return;  // freed, which wipes what can be
  std::lock_guard lock(mutex_);
  auto& idle = idle_[{memory->device().octets(), memory->pinned().octets()}];
  if (idle.size() < kMaxIdle) idle.push_back(std::move(memory));
}

}  // namespace tkdc::cuda
