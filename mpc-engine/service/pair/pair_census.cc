// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_census.h"

#include "service/pair/pair_blocks.h"
#include "service/store/dropped_table.h"

namespace tkdc {

void PairCensus::forget() {
  at_ = At::kStart;
  ids_.clear();
  next_ = 0;
  found_.clear();
}

bool PairCensus::step() {
  if (at_ == At::kStart) {
    ids_ = {KeyId{}};  // the first of all
    next_ = 0;
    at_ = At::kRecords;
  }
  for (std::size_t k = 0; k < kPage && !is_done(); ++k) {
    const Result<void> done = next_ < ids_.size() ? look_at(ids_[next_++]) : list_more();
    if (!done) at_ = At::kFailed;
  }
  return !is_done();
}

Result<void> PairCensus::look_at(const KeyId& id) {
  auto record = at_ == At::kRecords ? store_.get(id) : store_.dropped()->dropped_record(id);
  if (!record) return record.error();
  if (!*record || (*record)->sharing != kPairSharing) return {};
  auto pool = pool_of(**record);
  if (!pool) return pool.error();
  ++found_[id_of(*pool)];
  return {};
}

// A store of two servers has dropped keys where a list of the other one's had them (store_list.h).
Result<void> PairCensus::list_more() {
  const KeyId last = ids_.back();
  next_ = 0;
  if (at_ == At::kRecords) {
    auto more = store_.ids_behind(last, kListed);
    if (!more) return more.error();
    ids_ = std::move(*more);
    if (!ids_.empty()) return {};
    DroppedTable* dropped = store_.dropped();
    const bool none = dropped == nullptr || dropped->dropped_count() == 0;
    at_ = none ? At::kDone : At::kDropped;
    ids_ = {KeyId{}};
    return {};
  }
  auto more = store_.dropped()->dropped_behind(last, kListed);
  if (!more) return more.error();
  ids_.clear();
  for (const DroppedKey& key : *more) ids_.push_back(key.id);
  if (ids_.empty()) at_ = At::kDone;
  return {};
}

}  // namespace tkdc
