// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_records.h"

#include <algorithm>

#include "base/codec.h"

namespace tkdc {
namespace {

using pair::kBlockBits;
using pair::Label;

constexpr std::size_t kAtOnce = 64;  // blocks of a reservation, a write to the disk each

Bytes name_of(const KeyRecord& record) {
  Bytes out;
  Writer writer(out);
  writer.text("record");
  writer.raw(record.ref.id);
  writer.u32(record.version);
  for (const auto& [name, field] : record.fields) writer.text(name);
  return out;
}

}  // namespace

Result<pair::Reserved*> PairBlocks::need(const pair::Pool& pool, std::size_t blocks) {
  auto& reserved = reserved_[{pool.id.high, pool.id.low}];
  if (reserved && reserved->left() >= blocks) return reserved.get();
  const auto before = pools_.next(pool.id);
  auto more = pair::reserve(session_, pool, pools_, std::max(blocks, kAtOnce));
  const std::size_t ordinary = pool.blocks.size() - pair::kept_for_moving(pool.blocks.size());
  // Not used up, so one of both could not write its number down. The distance between the two grows
  // by one reservation, and no job of this session makes it grow more.
  if (!more && before && *before + std::max(blocks, kAtOnce) <= ordinary)
    return session_.end(more.error().message, pair::EndedBy::kState);
  if (!more) return more.error();
  reserved = std::make_unique<pair::Reserved>(std::move(*more));
  return reserved.get();
}

Result<pair::Reserved*> PairBlocks::need_to_prove(const Label& id) {
  const pair::Pool* pool = pools_.find(id);
  if (pool == nullptr)
    return session_.end("this server has not the pool of that key", pair::EndedBy::kState);
  if (auto ordinary = need(*pool, 1); ordinary || !session_.stands()) return ordinary;
  auto last = pair::reserve(session_, *pool, pools_, 1, pair::For::kMoving);
  if (!last) return last.error();
  auto& reserved = reserved_[{id.high, id.low}];
  reserved = std::make_unique<pair::Reserved>(std::move(*last));
  return reserved.get();
}

Result<pair::Fresh> PairBlocks::fresh(std::size_t blocks) {
  auto reserved = need(pool_, blocks + 1);
  if (!reserved) return reserved.error();
  return pair::draw_fresh(session_, **reserved, blocks);
}

Result<pair::Held> bridge_value(pair::Session& session, PairBlocks& blocks, const Label& pool,
                                const SharedBytes& value, ByteSpan name) {
  auto stored = get_blocks(value);
  if (!stored) return session.end(stored.error().message, pair::EndedBy::kState);
  auto reserved = blocks.need_to_prove(pool);
  if (!reserved) return reserved.error();
  return pair::bridge(session, **reserved, {pool, std::move(*stored)}, name);
}

Result<void> PairRecords::bridge(const KeyRecord& record) {
  forget(record.ref.id);
  auto pool = pool_of(record);
  if (!pool) return session_.end(pool.error().message, pair::EndedBy::kState);
  SharedBytes all;
  for (const auto& [name, field] : record.fields)
    if (name != kPoolField)
      for (const int c : {0, 1})
        all.component[c].insert(all.component[c].end(), field.component[c].begin(),
                                field.component[c].end());
  auto bits = bridge_value(session_, blocks_, *pool, all, name_of(record));
  if (!bits) return bits.error();
  const std::size_t bytes = sizeof(pair::AuthBit) * bits->bits.size();
  while (bytes_ + bytes > kMostBytes && !held_.empty()) {
    const auto oldest =
        std::ranges::min_element(held_, {}, [](const auto& entry) { return entry.second.asked; });
    forget(KeyId(oldest->first));
  }
  bytes_ += bytes;
  held_.emplace(record.ref.id, Entry{std::move(*bits), ++asked_});
  return {};
}

Result<pair::Held> PairRecords::part(const KeyRecord& record, const std::string& field,
                                     std::size_t bits) const {
  const auto entry = held_.find(record.ref.id);
  if (entry == held_.end()) return fail("keys: this record is not bridged");
  entry->second.asked = ++asked_;
  std::size_t first = 0;
  for (const auto& [name, value] : record.fields) {
    if (name == kPoolField) continue;
    const std::size_t here = 8 * value.component[0].size();
    if (name == field && bits <= here) return pair::part_of(entry->second.bits, first, bits);
    first += here;
  }
  return fail("keys: this record has no such field: " + field);
}

void PairRecords::forget(const KeyId& id) {
  const auto entry = held_.find(id);
  if (entry == held_.end()) return;
  bytes_ -= sizeof(pair::AuthBit) * entry->second.bits.bits.size();
  held_.erase(entry);
}

}  // namespace tkdc
