// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/pool.h"

#include "base/secret.h"

namespace tkdc::cuda {

Result<void> PooledMemory::allocate_planned() {
  for (Arena* arena : {&device_, &pinned_})
    if (auto done = arena->allocate(); !done) return done.error();
  auto queue = driver_.make_queue();
  if (!queue) return queue.error();
  queue_ = std::move(*queue);
  return {};
}

class PooledMemory::Wipe final : public Step {
 public:
  explicit Wipe(const Arena& device) : device_(device) {}
  void record(Recorder& to) const override { to.zero(device_.memory(), device_.octets()); }

 private:
  const Arena& device_;
};

Result<void> PooledMemory::wipe() {
  queue_->submit("wipe", Wipe(device_));
  if (auto done = queue_->finish(); !done) return done.error();
  sodium_memzero(pinned_.memory(), pinned_.octets());
  return {};
}

}  // namespace tkdc::cuda
