// SPDX-License-Identifier: Apache-2.0
// A Store that forgets: for tests of the handshake.
#pragma once

#include <map>
#include <mutex>
#include <set>

#include "service/store/store.h"

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
  Result<std::vector<KeyId>> prepared() override {
    std::lock_guard lock(mutex_);
    if (!read_failure.empty()) return fail(read_failure);
    return std::vector<KeyId>(prepared_.begin(), prepared_.end());
  }
  Result<std::vector<KeyId>> condemned() override {
    std::lock_guard lock(mutex_);
    if (!read_failure.empty()) return fail(read_failure);
    return std::vector<KeyId>(condemned_.begin(), condemned_.end());
  }
  Result<bool> committed(const KeyId& id) override {
    std::lock_guard lock(mutex_);
    if (!lookup_failure.empty()) return fail(lookup_failure);
    return committed_.contains(id);
  }
  Result<bool> buried(const KeyId& id) override {
    std::lock_guard lock(mutex_);
    if (!lookup_failure.empty()) return fail(lookup_failure);
    return buried_.contains(id);
  }
  Result<std::vector<KeyId>> ids_behind(const KeyId& after, std::size_t most) override {
    std::vector<KeyId> ids;
    for (auto it = committed_.upper_bound(after); it != committed_.end() && ids.size() < most; ++it)
      ids.push_back(*it);
    return ids;
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
  Result<std::uint64_t> seal_mark(const KeyId&) override { return std::uint64_t{0}; }
  Result<void> set_seal_mark(const KeyId&, std::uint64_t) override { return {}; }
  Result<Bytes> revoked() override { return Bytes(); }
  Result<void> set_revoked(ByteSpan) override { return {}; }
  Epochs epochs() override {
    std::lock_guard lock(mutex_);
    return epochs_;
  }
  Result<void> set_epochs(const Epochs& epochs) override {
    std::lock_guard lock(mutex_);
    if (!epoch_failure.empty()) return fail(epoch_failure);
    if (const char* fault = epochs_fault(epochs_, epochs)) return fail(fault);
    epochs_ = epochs;
    return {};
  }
  // As if sessions up to this epoch had been.
  void use_epochs(std::uint32_t epoch) {
    std::lock_guard lock(mutex_);
    epochs_.reserved = epochs_.used = epoch;
  }

  std::string epoch_failure;   // when set, set_epochs fails
  std::string read_failure;    // when set, listing half made keys fails
  std::string lookup_failure;  // when set, committed() and buried() fail

 private:
  std::mutex mutex_;
  std::set<KeyId> prepared_, committed_, condemned_, buried_;
  Epochs epochs_;
};

}  // namespace tkdc
