// SPDX-License-Identifier: Apache-2.0
#include "service/sealing/seal_counts.h"

#include <algorithm>

namespace tkdc {
namespace {

// Above what all lanes together may have admitted and not yet counted.
constexpr std::uint64_t kMargin = SealCounts::kStep / 4;

}  // namespace

// Lanes go on counting while the disk works.
Result<void> SealCounts::move_mark(const KeyId& id) {
  std::lock_guard one_at_a_time(moving_);
  std::uint64_t mark = 0;
  {
    std::lock_guard lock(mutex_);
    mark = counts_[id].done + kStep;
  }
  auto stored = store_.set_seal_mark(id, mark);
  if (!stored.ok()) return stored;
  std::lock_guard lock(mutex_);
  counts_[id].mark = mark;
  return {};
}

Result<bool> SealCounts::may_seal(const KeyId& id) {
  bool near_limit = false;
  {
    std::lock_guard lock(mutex_);
    auto [it, fresh] = counts_.try_emplace(id);
    Count& count = it->second;
    if (fresh) {
      auto mark = store_.seal_mark(id);
      if (!mark.ok()) {
        counts_.erase(it);
        return mark.error();
      }
      count.done = count.mark = *mark;
    }
    count.last = SteadyClock::now();
    if (count.done >= limit_) return false;
    if (count.done + kMargin <= count.mark) return true;
    near_limit = count.done >= warn_at();
  }
  auto moved = move_mark(id);
  if (!moved.ok() && near_limit) return moved.error();
  return true;
}

void SealCounts::sealed(const KeyId& id) {
  std::lock_guard lock(mutex_);
  counts_[id].done++;
}

void SealCounts::reserve() {
  std::vector<KeyId> due;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, count] : counts_)
      if (count.done < limit_ && count.done + kStep / 2 > count.mark) due.push_back(id);
  }
  for (const KeyId& id : due) (void)move_mark(id).ok();
}

std::uint64_t SealCounts::most() const {
  std::lock_guard lock(mutex_);
  std::uint64_t most = 0;
  const auto now = SteadyClock::now();
  for (const auto& [id, count] : counts_)
    if (now - count.last < unused_after_) most = std::max(most, count.done);
  return most;
}

}  // namespace tkdc
