// SPDX-License-Identifier: Apache-2.0
// A Store that forgets: for tests of the handshake.
#pragma once

#include <map>
#include <mutex>
#include <set>

#include "store/store.h"

namespace tkdc {

class MemoryStore final : public Store {
 public:
  Result<void> prepare(const KeyRecord& record) override {
    std::lock_guard lock(mutex_);
    prepared_.insert(record.ref.id);
    return {};
  }
  Result<void> commit(const KeyId& id) override {
    std::lock_guard lock(mutex_);
    prepared_.erase(id);
    committed_.insert(id);
    return {};
  }
  Result<void> abandon(const KeyId& id) override {
    std::lock_guard lock(mutex_);
    prepared_.erase(id);
    return {};
  }
  Result<void> condemn(const KeyId& id) override {
    std::lock_guard lock(mutex_);
    condemned_.insert(id);
    return {};
  }
  Result<void> pardon(const KeyId& id) override {
    std::lock_guard lock(mutex_);
    condemned_.erase(id);
    return {};
  }
  Result<void> destroy(const KeyId& id) override {
    std::lock_guard lock(mutex_);
    condemned_.erase(id);
    committed_.erase(id);
    buried_.insert(id);
    return {};
  }
  Result<std::shared_ptr<const KeyRecord>> get(const KeyId&) override {
    return std::shared_ptr<const KeyRecord>();
  }
  std::vector<KeyId> prepared() override {
    std::lock_guard lock(mutex_);
    return {prepared_.begin(), prepared_.end()};
  }
  std::vector<KeyId> condemned() override {
    std::lock_guard lock(mutex_);
    return {condemned_.begin(), condemned_.end()};
  }
  bool committed(const KeyId& id) override {
    std::lock_guard lock(mutex_);
    return committed_.contains(id);
  }
  bool buried(const KeyId& id) override {
    std::lock_guard lock(mutex_);
    return buried_.contains(id);
  }
  std::size_t count() override {
    std::lock_guard lock(mutex_);
    return committed_.size();
  }
  Result<Digest> inventory() override {
    std::lock_guard lock(mutex_);
    Bytes all;
    for (const KeyId& id : committed_) all.insert(all.end(), id.begin(), id.end());
    return output_digest(all);
  }
  std::uint32_t epoch() override {
    std::lock_guard lock(mutex_);
    return epoch_;
  }
  Result<void> set_epoch(std::uint32_t epoch) override {
    std::lock_guard lock(mutex_);
    if (!epoch_failure.empty()) return fail(epoch_failure);
    epoch_ = epoch;
    return {};
  }

  std::string epoch_failure;  // when set, set_epoch fails

 private:
  std::mutex mutex_;
  std::set<KeyId> prepared_, committed_, condemned_, buried_;
  std::uint32_t epoch_ = 0;
};

}  // namespace tkdc
