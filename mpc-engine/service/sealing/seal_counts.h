// SPDX-License-Identifier: Apache-2.0
// How often each key of GCM form has sealed: at most 2^38 tickets per key.
//
// Each server counts for itself and refuses for itself; one refusal is enough.
// What is on disk is a mark that the count has not passed: it moves up by
// kStep before the count reaches it, so that a crash loses no seal, and a
// restart costs at most a step. 2^18 restarts would use a key up; the epoch
// allows no more than 2^20 sessions anyway. While a mark cannot be written (a
// full disk) logins go on below half the limit: what a crash could lose then is
// far from the other half.
//
// Thread-safe: lanes ask and count, the main thread moves marks ahead of need,
// so that a lane waits for the disk at a key's first seal only.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/machine.h"
#include "service/store/store.h"

namespace tkdc {

class SealCounts {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 38;
  static constexpr std::uint64_t kStep = std::uint64_t{1} << 20;

  explicit SealCounts(Store& store, std::uint64_t limit = kLimit,
                      std::chrono::milliseconds unused_after = std::chrono::hours(24))
      : store_(store), limit_(limit), unused_after_(unused_after) {}

  // Whether the key may seal once more. Error: the mark cannot be read, or not
  // be written although the limit is near.
  Result<bool> may_seal(const KeyId& id);
  // An admitted job seals with it.
  void sealed(const KeyId& id);
  // Moves the marks of keys in use; errors show at the next may_seal().
  void reserve();

  // Of the key that has sealed most, among those that were asked to within `unused_after`: one
  // that was replaced is not among them for long.
  std::uint64_t most() const;
  std::uint64_t warn_at() const { return limit_ / 2; }

 private:
  struct Count {
    std::uint64_t done = 0, mark = 0;
    SteadyClock::time_point last{};
  };
  Result<void> move_mark(const KeyId& id);

  Store& store_;
  const std::uint64_t limit_;
  const std::chrono::milliseconds unused_after_;
  std::mutex moving_;  // marks on disk only grow; taken before mutex_
  mutable std::mutex mutex_;
  std::map<KeyId, Count> counts_;
};

}  // namespace tkdc
