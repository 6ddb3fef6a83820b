// SPDX-License-Identifier: Apache-2.0
// The most recently used decrypted records, bounded in number. Thread-safe.
//
// A reader that decrypted a record while another thread removed it must not
// put it back: it hands in the generation it saw before reading, and forget()
// changes it. Secret: everything in it, in wiped memory.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "service/store/record.h"

namespace tkdc {

class RecordCache {
 public:
  using Entry = std::shared_ptr<const KeyRecord>;

  explicit RecordCache(std::size_t max_records) : max_records_(max_records) {}

  // Null when absent; `generation` is for put().
  Entry get(const KeyId& id, std::uint64_t* generation) {
    std::lock_guard lock(mutex_);
    *generation = generation_;
    auto found = index_.find(id);
    if (found == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return *found->second;
  }

  void put(const Entry& record, std::uint64_t generation) {
    std::lock_guard lock(mutex_);
    if (generation != generation_ || index_.contains(record->ref.id)) return;
    order_.push_front(record);
    index_[record->ref.id] = order_.begin();
    if (order_.size() <= max_records_) return;
    index_.erase(order_.back()->ref.id);
    order_.pop_back();
  }

  void forget_all() {
    std::lock_guard lock(mutex_);
    generation_++;
    index_.clear();
    order_.clear();
  }

  void forget(const KeyId& id) {
    std::lock_guard lock(mutex_);
    generation_++;
    auto found = index_.find(id);
    if (found == index_.end()) return;
    order_.erase(found->second);
    index_.erase(found);
  }

 private:
  // Ids are random; an agent cannot aim at buckets without making keys.
  struct Hash {
    std::size_t operator()(const KeyId& id) const {
      std::size_t h = 0;
      for (std::size_t i = 0; i < sizeof h; ++i) h = h << 8 | id[i];
      return h;
    }
  };

  std::mutex mutex_;
  std::size_t max_records_;
  std::uint64_t generation_ = 0;
  std::list<Entry> order_;  // most recent first
  std::unordered_map<KeyId, std::list<Entry>::iterator, Hash> index_;
};

}  // namespace tkdc
