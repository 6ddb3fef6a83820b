// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_records.h"

#include <algorithm>

#include "base/codec.h"
#include "pair/circuit_bridge.h"

namespace tkdc {
namespace {

using pair::kBlockBits;
using pair::Label;

// Blocks of a reservation, a write to the disk each: 1, 4, 16, and from then on 64.
constexpr std::size_t kGrows = 4, kMostAtOnce = 64;
constexpr const char* kUsedUp =
    "the pool that this key is of is used up but for what moves its keys into another one: "
    "its keys serve again when they have been moved";

std::size_t bytes_of(const pair::Held& held) { return sizeof(pair::AuthBit) * held.bits.size(); }
std::size_t bytes_of(const lut::RoundKeys& keys) { return keys.octets(); }

}  // namespace

Result<pair::Reserved*> PairBlocks::need(const pair::Pool& pool, std::size_t blocks) {
  OfPool& some = of(pool.id);
  if (some.reserved && some.reserved->left() >= blocks) return some.reserved.get();
  const std::size_t wanted = std::max(blocks, some.at_once);
  const auto before = pools_.next(pool.id);
  auto more = pair::reserve(session_, pool, pools_, wanted);
  const std::size_t ordinary = pool.blocks.size() - pair::kept_for_moving(pool.blocks.size());
  // Not used up, so one of both could not write its number down. The distance between the two grows
  // by one reservation, and no job of this session makes it grow more.
  if (!more && before && *before + wanted <= ordinary)
    return session_.end(more.error().message, pair::EndedBy::kState);
  if (!more && blocks < some.at_once && session_.stands()) {
    some.at_once = blocks;  // the last ones
    return need(pool, blocks);
  }
  if (!more) return more.error();
  some.at_once = std::min(kGrows * some.at_once, kMostAtOnce);
  return keep(some, std::move(*more));
}

pair::Reserved* PairBlocks::keep(OfPool& some, pair::Reserved reserved) {
  some.reserved = std::make_unique<pair::Reserved>(std::move(reserved));
  const pair::Reserved& now = *some.reserved;
  if (reserved_) reserved_(now.pool().id, now.next(), now.left());
  return some.reserved.get();
}

Result<pair::Reserved*> PairBlocks::need_to_prove(const Label& id) {
  const pair::Pool* pool = pools_.find(id);
  if (pool == nullptr)
    return session_.end("this server has not the pool of that key", pair::EndedBy::kState);
  auto some = need(*pool, 1);
  if (some || !session_.stands()) return some;
  const Error why = fail(std::string("keys: ") + kUsedUp + " (" + some.error().message + ")");
  if (trouble_ && !std::exchange(of(id).told, true)) trouble_(why.message);
  return why;
}

Result<pair::Reserved*> PairBlocks::need_to_move(const Label& id) {
  const pair::Pool* pool = pools_.find(id);
  if (pool == nullptr)
    return session_.end("this server has not the pool of keys that move", pair::EndedBy::kState);
  OfPool& some = of(id);
  if (some.reserved && some.reserved->left() > 0) return some.reserved.get();
  auto one = pair::reserve(session_, *pool, pools_, 1, pair::For::kMoving);
  if (!one) return one.error();
  return keep(some, std::move(*one));
}

const pair::Pool* PairBlocks::spent(const Label& id) const {
  return pools_.is_spent(id) ? pools_.find(id) : nullptr;
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
  if (const pair::Pool* spent = blocks.spent(pool); spent != nullptr)
    return pair::bridge_in_circuit(session, *spent, {pool, std::move(*stored)}, name);
  auto reserved = blocks.need_to_prove(pool);
  if (!reserved) return reserved.error();
  return pair::bridge(session, **reserved, {pool, std::move(*stored)}, name);
}

Bytes name_of_records(std::span<const KeyRecord* const> records) {
  Bytes out;
  Writer writer(out);
  writer.text("records");
  writer.u32(static_cast<std::uint32_t>(records.size()));
  for (const KeyRecord* record : records) {
    writer.raw(record->ref.id);
    writer.u32(record->version);
    writer.u32(static_cast<std::uint32_t>(record->fields.size()));
    for (const auto& [name, field] : record->fields) {
      writer.text(name);
      writer.u32(static_cast<std::uint32_t>(field.component[0].size()));
    }
  }
  return out;
}

SharedBytes blocks_of_record(const KeyRecord& record) {
  SharedBytes out;
  for (const auto& [name, field] : record.fields)
    if (name != kPoolField)
      for (const int c : {0, 1})
        out.component[c].insert(out.component[c].end(), field.component[c].begin(),
                                field.component[c].end());
  return out;
}

Result<void> PairRecords::bridge(std::span<const KeyRecord* const> records, bool asked) {
  auto pool = pool_of(*records.front());
  if (!pool) return session_.end(pool.error().message, pair::EndedBy::kState);
  SharedBytes all;
  std::vector<std::size_t> sizes;  // bits
  for (const KeyRecord* record : records) {
    forget(record->ref.id);
    const SharedBytes own = blocks_of_record(*record);
    for (const int c : {0, 1})
      all.component[c].insert(all.component[c].end(), own.component[c].begin(),
                              own.component[c].end());
    sizes.push_back(8 * own.component[0].size());
  }
  auto bits = bridge_value(session_, blocks_, *pool, all, name_of_records(records));
  if (!bits) return bits.error();
  std::size_t first = 0;
  for (std::size_t k = 0; k < records.size(); first += sizes[k++]) {
    auto own = pair::part_of(*bits, first, sizes[k]);
    if (!own) return session_.end(own.error().message, pair::EndedBy::kState);
    keep(records[k]->ref.id, std::move(*own), asked);
  }
  return {};
}

void PairRecords::keep(const KeyId& id, pair::Held bits, bool asked) {
  const std::size_t bytes = bytes_of(bits);
  make_room(bytes);
  bytes_ += bytes;
  held_.emplace(id, Entry{std::move(bits), {}, {}, asked ? ++asked_ : 0});
}

void PairRecords::make_room(std::size_t bytes) {
  while (bytes_ + bytes > kMostBytes && !held_.empty()) {
    const auto oldest =
        std::ranges::min_element(held_, {}, [](const auto& entry) { return entry.second.asked; });
    forget(KeyId(oldest->first));
  }
}

bool PairRecords::has_made(const KeyId& id, const std::string& name) const {
  const auto entry = held_.find(id);
  return entry != held_.end() && entry->second.made.contains(name);
}

Result<pair::Held> PairRecords::made(const KeyId& id, const std::string& name) const {
  if (!has_made(id, name)) return fail("keys: of this record nothing has been made of that name");
  Entry& entry = held_.at(id);
  entry.asked = ++asked_;
  return entry.made.at(name);
}

// No record goes for it: a record costs a block of its pool. Null: there is no room.
template <class Made>
Made* PairRecords::keep_beside(std::map<std::string, Made>& all, const std::string& name,
                               Made& one) {
  if (const auto before = all.extract(name)) bytes_ -= bytes_of(before.mapped());
  const std::size_t bytes = bytes_of(one);
  if (all.size() >= kMostMade || bytes_ + bytes > kMostBytes) return nullptr;
  bytes_ += bytes;
  return &all.emplace(name, std::move(one)).first->second;
}

void PairRecords::keep_made(const KeyId& id, const std::string& name, pair::Held bits) {
  if (const auto entry = held_.find(id); entry != held_.end())
    keep_beside(entry->second.made, name, bits);
}

bool PairRecords::has_round_keys(const KeyId& id, const std::string& field) const {
  const auto entry = held_.find(id);
  return entry != held_.end() && entry->second.round_keys.contains(field);
}

const lut::RoundKeys* PairRecords::round_keys(const KeyId& id, const std::string& field) const {
  return has_round_keys(id, field) ? &held_.at(id).round_keys.at(field) : nullptr;
}

const lut::RoundKeys& PairRecords::keep_round_keys(const KeyId& id, const std::string& field,
                                                   lut::RoundKeys& keys) {
  const auto entry = held_.find(id);
  if (entry == held_.end()) return keys;
  const lut::RoundKeys* kept = keep_beside(entry->second.round_keys, field, keys);
  return kept != nullptr ? *kept : keys;
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
  bytes_ -= bytes_of(entry->second.bits);
  for (const auto& [name, bits] : entry->second.made) bytes_ -= bytes_of(bits);
  for (const auto& [field, keys] : entry->second.round_keys) bytes_ -= bytes_of(keys);
  held_.erase(entry);
}

}  // namespace tkdc
