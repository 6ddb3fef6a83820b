// SPDX-License-Identifier: Apache-2.0
// Which pools the committed records of a store name, also those of keys that were dropped, and of
// each how many. It reads a page in a step, so that jobs have their turn meanwhile.
//
// While it reads, no key is made but of the session's pool, and none moves but into it. So of each
// other pool it finds all that is there in the end, or more: what was removed meanwhile.
//
// One thread: the lane's.
#pragma once

#include <map>
#include <vector>

#include "pair/auth_block.h"
#include "service/store/store.h"

namespace tkdc {

using PoolId = std::pair<std::uint64_t, std::uint64_t>;
inline PoolId id_of(const pair::Label& pool) { return {pool.high, pool.low}; }

class PairCensus {
 public:
  static constexpr std::size_t kPage = 256;  // records

  explicit PairCensus(Store& store) : store_(store) {}

  // What was found is out of date: the next step begins with the first key.
  void forget();
  // Reads a page, the first one too. Whether there is more to read.
  bool step();
  bool has_begun() const { return at_ != At::kStart; }
  bool is_done() const { return at_ == At::kDone || at_ == At::kFailed; }
  // By pool. Null: it is not done, or a record cannot be read.
  const std::map<PoolId, std::uint64_t>* found() const {
    return at_ == At::kDone ? &found_ : nullptr;
  }

 private:
  enum class At { kStart, kRecords, kDropped, kDone, kFailed };
  static constexpr std::size_t kListed = 4096;  // ids at once

  Result<void> look_at(const KeyId& id);
  Result<void> list_more();

  Store& store_;
  At at_ = At::kStart;
  std::vector<KeyId> ids_;
  std::size_t next_ = 0;  // of them
  std::map<PoolId, std::uint64_t> found_;
};

}  // namespace tkdc
