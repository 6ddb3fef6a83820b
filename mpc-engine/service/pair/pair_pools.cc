// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_pools.h"

#include <algorithm>
#include <cstring>

#include "base/codec.h"
#include "base/hex.h"
#include "service/store/kept_values.h"

namespace tkdc {
namespace {

using pair::AuthBlock;
using pair::kLabelBytes;
using pair::Label;

// So small that a full disk takes a chunk in the place of itself (value_table.h).
constexpr std::size_t kChunkBlocks = 16;
constexpr std::size_t kErasedAtOnce = 64;  // chunks, in one transaction
constexpr std::size_t kBlockBytes = sizeof(AuthBlock);
static_assert(kBlockBytes == 48 && kChunkBlocks * kBlockBytes <= kMaxValueBytes);
constexpr std::size_t kMostBlocks = std::size_t{1} << 20;  // of a pool
constexpr std::string_view kPrefix = kept::kPool, kHead = kept::kHead, kNext = kept::kNext;
using kept::kOld;

std::string base_of(const Label& id) {
  return std::string(kPrefix) + to_hex({reinterpret_cast<const std::uint8_t*>(&id), sizeof id});
}
std::string chunk_name(const Label& id, std::size_t chunk) {
  const std::uint8_t number[2] = {static_cast<std::uint8_t>(chunk >> 8),
                                  static_cast<std::uint8_t>(chunk)};
  return base_of(id) + "/" + to_hex(number);
}
std::size_t chunks_of(std::size_t blocks) { return (blocks + kChunkBlocks - 1) / kChunkBlocks; }
std::pair<std::uint64_t, std::uint64_t> key_of(const Label& id) { return {id.high, id.low}; }

Bytes put_number(std::uint64_t number) {
  Bytes out;
  Writer(out).u64(number);
  return out;
}

Error damaged(const std::string& name) {
  return fail("pool: the value " + name +
              " of this store is missing or damaged: keys of that pool cannot be used here. Ask "
              "for help before anything is restored");
}

}  // namespace

Result<void> PairPools::load() {
  auto names = values_.names(kPrefix);
  if (!names) return names.error();
  const std::lock_guard lock(mutex_);
  pools_.clear();
  next_.clear();
  made_.clear();
  erased_.clear();
  old_.clear();
  for (const std::string& name : *names) {
    if (!name.ends_with(kHead)) continue;
    if (pools_.size() == kMostAll) return fail("pool: this store has more than it may have");
    if (auto loaded = load_one(name.substr(0, name.size() - kHead.size())); !loaded) return loaded;
  }
  return look_at_refresh_locked();
}

Result<void> PairPools::look_at_refresh() {
  const std::lock_guard lock(mutex_);
  return look_at_refresh_locked();
}

Result<void> PairPools::look_at_refresh_locked() {
  auto since = values_.get(kept::kRefreshing), ended = values_.get(kept::kRefreshEnded);
  if (!since) return since.error();
  if (!ended) return ended.error();
  if (*ended && (*ended)->size() != kept::kSinceBytes)
    return damaged(std::string(kept::kRefreshEnded));
  refresh_ended_ = *ended ? Reader(**ended).u64() : 0;
  refreshing_.reset();
  if (!*since) return {};
  if ((*since)->size() != kept::kSinceBytes) return damaged(std::string(kept::kRefreshing));
  refreshing_ = Reader(**since).u64();
  return {};
}

std::uint64_t PairPools::refresh_ended() const {
  const std::lock_guard lock(mutex_);
  return refresh_ended_;
}

std::optional<std::uint64_t> PairPools::refreshing() const {
  const std::lock_guard lock(mutex_);
  return refreshing_;
}

SecretVector PairPools::head_of(const pair::Pool& pool, std::uint64_t blocks, bool old) const {
  SecretVector head;
  SecretWriter out(head);
  out.u8(static_cast<std::uint8_t>(static_cast<std::uint8_t>(side_) | (old ? kOld : 0)));
  out.u64(blocks);
  out.raw({reinterpret_cast<const std::uint8_t*>(&pool.deltas.delta), kLabelBytes});
  return head;
}

Result<void> PairPools::retire(const std::vector<Label>& ids, std::uint64_t now_s) {
  const std::lock_guard lock(mutex_);
  return retire_locked(ids, refreshing_.value_or(now_s));
}

Result<void> PairPools::retire_all(std::uint64_t now_s) {
  const std::lock_guard lock(mutex_);
  std::vector<Label> all;
  for (const pair::Pool& one : pools_) all.push_back(one.id);
  return retire_locked(all, now_s);
}

Result<void> PairPools::retire_locked(const std::vector<Label>& ids, std::uint64_t since_s) {
  std::vector<std::string> names;
  std::vector<SecretVector> heads;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> anew;
  for (const Label& id : ids) {
    const pair::Pool* pool = find_own(id);
    if (pool == nullptr || old_.contains(key_of(id))) continue;
    names.push_back(base_of(id) + std::string(kHead));
    heads.push_back(head_of(*pool, made_.at(key_of(id)), true));
    anew.push_back(key_of(id));
  }
  std::vector<NamedValue> values;
  for (std::size_t k = 0; k < names.size(); ++k) values.push_back({names[k], heads[k]});
  const Bytes since = put_number(since_s);
  if (refreshing_ != since_s) values.push_back({kept::kRefreshing, since});
  if (values.empty()) return {};
  if (auto put = values_.put(values); !put) return put;
  old_.insert(anew.begin(), anew.end());
  refreshing_ = since_s;
  return {};
}

Result<void> PairPools::room_for_refresh(std::size_t blocks) const {
  const std::lock_guard lock(mutex_);
  const auto live = std::ranges::count_if(pools_, [&](const pair::Pool& one) {
    return next_.at(key_of(one.id)) < made_.at(key_of(one.id));
  });
  if (static_cast<std::size_t>(live) >= kMostWithOld || pools_.size() >= kMostAll)
    return fail("pool: there are " + std::to_string(pools_.size()) +
                " in this store, and no more can be made: destroy keys that are not used");
  return values_.room_for(blocks * kBlockBytes);
}

bool PairPools::is_old(const Label& id) const {
  const std::lock_guard lock(mutex_);
  return old_.contains(key_of(id));
}

bool PairPools::has_old() const {
  const std::lock_guard lock(mutex_);
  return !old_.empty();
}

Result<void> PairPools::load_one(const std::string& base) {
  auto head = values_.get(base + std::string(kHead)), next = values_.get(base + std::string(kNext));
  if (!head) return head.error();
  if (!next) return next.error();
  if (!*head || !*next) return damaged(base);
  Reader in(**head), number(**next);
  pair::Pool pool;
  const std::uint8_t side = in.u8();
  pool.deltas.side = static_cast<pair::Side>(side & ~kOld);
  const std::uint64_t blocks = in.u64(), used = number.u64();
  const ByteSpan delta = in.raw(kLabelBytes);
  Label id;
  if (!in.complete() || !number.complete() || blocks > kMostBlocks || used > blocks ||
      !from_hex(base.substr(kPrefix.size()), {reinterpret_cast<std::uint8_t*>(&id), sizeof id}))
    return damaged(base);
  if (pool.deltas.side != side_)
    return fail("pool: this store has pools of the other server: it is that one's store");
  pool.id = id;
  std::memcpy(&pool.deltas.delta, delta.data(), kLabelBytes);
  if (used < blocks) pool.blocks.resize(blocks);  // one without any takes no memory
  const std::size_t begin = used == blocks ? chunks_of(blocks) : used / kChunkBlocks;
  for (std::size_t chunk = begin; chunk < chunks_of(blocks); ++chunk) {
    const std::size_t first = chunk * kChunkBlocks;
    const std::size_t bytes = kBlockBytes * std::min<std::size_t>(kChunkBlocks, blocks - first);
    auto value = values_.get(chunk_name(id, chunk));
    if (!value) return value.error();
    if (!*value || (*value)->size() != bytes) return damaged(chunk_name(id, chunk));
    std::memcpy(static_cast<void*>(pool.blocks.data() + first), (*value)->data(), bytes);
  }
  pools_.push_back(std::move(pool));
  if ((side & kOld) != 0) old_.insert(key_of(id));
  next_[key_of(id)] = used;
  made_[key_of(id)] = blocks;
  erased_[key_of(id)] = std::max(used / kChunkBlocks, kErasedAtOnce) - kErasedAtOnce;
  return {};
}

Result<void> PairPools::keep(pair::Pool pool) {
  const std::lock_guard lock(mutex_);
  std::size_t live = 0, old = 0;
  for (const pair::Pool& one : pools_) {
    if (next_.at(key_of(one.id)) == made_.at(key_of(one.id))) continue;
    ++live;
    if (old_.contains(key_of(one.id))) ++old;
  }
  if (live - old >= kMost || live >= kMostWithOld || pools_.size() >= kMostAll)
    return fail("pool: there are " + std::to_string(pools_.size()) +
                " in this store, and no more can be made");
  const SecretVector head = head_of(pool, pool.blocks.size(), false);
  const Bytes none = put_number(0);
  std::vector<std::string> names{base_of(pool.id) + std::string(kHead),
                                 base_of(pool.id) + std::string(kNext)};
  for (std::size_t chunk = 0; chunk < chunks_of(pool.blocks.size()); ++chunk)
    names.push_back(chunk_name(pool.id, chunk));
  std::vector<NamedValue> values{{names[0], head}, {names[1], none}};
  for (std::size_t chunk = 0; chunk + 2 < names.size(); ++chunk) {
    const std::size_t first = chunk * kChunkBlocks;
    const std::size_t count = std::min(kChunkBlocks, pool.blocks.size() - first);
    values.push_back(
        {names[chunk + 2],
         {reinterpret_cast<const std::uint8_t*>(pool.blocks.data() + first), kBlockBytes * count}});
  }
  if (auto put = values_.put(values); !put) return put;
  next_[key_of(pool.id)] = 0;
  made_[key_of(pool.id)] = pool.blocks.size();
  pools_.push_back(std::move(pool));
  return {};
}

Result<void> PairPools::drop(const Label& id) {
  const std::lock_guard lock(mutex_);
  const auto next = next_.find(key_of(id));
  return next == next_.end() || next->second != 0 ? Result<void>() : erase_locked(id);
}

Result<void> PairPools::erase(const Label& id) {
  const std::lock_guard lock(mutex_);
  return erase_locked(id);
}

Result<void> PairPools::erase_locked(const Label& id) {
  const auto pool = std::ranges::find_if(pools_, [&](const auto& one) { return one.id == id; });
  if (pool == pools_.end()) return {};
  std::vector<std::string> names{base_of(id) + std::string(kHead),
                                 base_of(id) + std::string(kNext)};
  const std::size_t chunks = chunks_of(made_[key_of(id)]);
  for (std::size_t chunk = erased_[key_of(id)]; chunk < chunks; ++chunk)
    names.push_back(chunk_name(id, chunk));
  if (auto gone = values_.erase(names); !gone) return gone;
  sodium_memzero(&pool->deltas.delta, sizeof pool->deltas.delta);
  pools_.erase(pool);
  next_.erase(key_of(id));
  made_.erase(key_of(id));
  erased_.erase(key_of(id));
  old_.erase(key_of(id));
  std::erase(orphans_, id);
  return {};
}

bool PairPools::is_spent(const Label& id) const {
  return std::ranges::find(spent_, id) != spent_.end();
}

const pair::Pool* PairPools::find(const Label& id) const {
  const std::lock_guard lock(mutex_);
  const auto pool = std::ranges::find_if(pools_, [&](const auto& one) { return one.id == id; });
  return pool == pools_.end() ? nullptr : &*pool;
}

std::vector<PairPools::Count> PairPools::counts() const {
  const std::lock_guard lock(mutex_);
  std::vector<Count> out;
  for (const pair::Pool& pool : pools_)
    out.push_back({pool.id, next_.at(key_of(pool.id)), made_.at(key_of(pool.id)),
                   old_.contains(key_of(pool.id))});
  return out;
}

Result<std::uint64_t> PairPools::next(const Label& pool) {
  const std::lock_guard lock(mutex_);
  const auto at = next_.find(key_of(pool));
  if (at == next_.end()) return fail("pool: this server has none of this id");
  return at->second;
}

Result<bool> PairPools::take(const Label& pool, std::uint64_t first, std::uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  const auto at = next_.find(key_of(pool));
  if (at == next_.end()) return fail("pool: this server has none of this id");
  if (first < at->second) return false;
  pair::Pool* of = find_own(pool);
  const std::uint64_t from = at->second, to = first + blocks;
  if (to > of->blocks.size()) return fail("pool: blocks beyond its last one are taken");
  const Bytes number = put_number(to);
  std::vector<std::string> names{base_of(pool) + std::string(kNext)};
  std::vector<SecretVector> chunks;
  for (std::size_t chunk = from / kChunkBlocks; chunk * kChunkBlocks < to; ++chunk) {
    const std::size_t begin = chunk * kChunkBlocks;
    const std::size_t end = std::min<std::size_t>(begin + kChunkBlocks, of->blocks.size());
    const std::size_t used = std::min<std::size_t>(end, to) - begin;
    SecretVector& value = chunks.emplace_back(kBlockBytes * (end - begin));
    std::memcpy(value.data() + kBlockBytes * used, of->blocks.data() + begin + used,
                kBlockBytes * (end - begin - used));
    names.push_back(chunk_name(pool, chunk));
  }
  std::vector<NamedValue> values{{names[0], number}};
  for (std::size_t k = 0; k < chunks.size(); ++k) values.push_back({names[k + 1], chunks[k]});
  if (auto put = values_.put(values); !put) return put.error();
  sodium_memzero(of->blocks.data() + from, kBlockBytes * (to - from));
  at->second = to;
  erase_used(pool, to);
  return true;
}

pair::Pool* PairPools::find_own(const Label& id) {
  const auto pool = std::ranges::find_if(pools_, [&](const auto& one) { return one.id == id; });
  return pool == pools_.end() ? nullptr : &*pool;
}

// Chunks that lie before `next` as a whole, zeros all of them, once they are many.
void PairPools::erase_used(const Label& id, std::uint64_t next) {
  std::uint64_t& from = erased_[key_of(id)];
  std::vector<std::string> names;
  if (next / kChunkBlocks < from + kErasedAtOnce) return;
  for (; (from + 1) * kChunkBlocks <= next; ++from) names.push_back(chunk_name(id, from));
  (void)values_.erase(names);
}

}  // namespace tkdc
