// SPDX-License-Identifier: Apache-2.0
#include "service/job/repair_talk.h"

#include <algorithm>
#include <cstring>

#include "base/hex.h"

namespace tkdc {
namespace {

// All but the protocol's steps is out of line: g++ 12 loses temporaries that are made inside a
// coroutine.

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;  // of a page, in one tick
constexpr std::uint8_t kGood = 1;
constexpr std::size_t kMostIds = MacKeyring::kMostKeys;
constexpr const char* kAfresh =
    "; nothing was changed. When that is mended, restart this server: the repair begins anew";

// good u8 | refresh epoch u32 | keys u64 | tombstones u64 | so many MAC keys u8 | their ids
constexpr std::size_t kStateHead = 1 + 4 + 8 + 8;
constexpr std::size_t kStateBytes = kStateHead + 1 + kMostIds * sizeof(MacKeyId);
// good u8 | last u8 | count u16 | digest | octets u32
constexpr std::size_t kPageHead = 1 + 1 + 2 + 32 + 4;

std::optional<std::vector<MacKeyId>> ids_in(const Bytes& state) {
  Reader r(ByteSpan(state).subspan(kStateHead));
  const std::size_t count = r.u8();
  if (count > kMostIds) return std::nullopt;
  std::vector<MacKeyId> ids(count);
  for (MacKeyId& id : ids) r.array(id);
  return ids;
}

// `total` octets are sent that way, from `at` on: this server's page, or nothing.
SecretVector piece(const SecretVector* page, std::size_t at, std::size_t total) {
  SecretVector out(at < total ? std::min(kChunkBytes, total - at) : 0);
  if (page != nullptr && !out.empty()) std::memcpy(out.data(), page->data() + at, out.size());
  return out;
}

void append(SecretVector& all, const SecretVector& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::string name_of(int party) { return "server " + std::to_string(party); }

}  // namespace

Result<void> RepairTalk::raise(const std::string& text, const KeyRecord* record) {
  alarm_.raise("repair: " + text, record);
  return fail("repair: " + text + kAfresh);
}

// P sends to its next server, N to its previous one, so many octets; the third way of each is
// filled with zeros, since messages of a tick are of one length all around.
Task<FromEach> RepairTalk::transfer(const SecretVector& mine, std::size_t prev_bytes,
                                    std::size_t next_bytes) {
  const bool is_prev = lane_.party() == survivor(0), is_next = lane_.party() == survivor(1);
  FromEach all;
  for (std::size_t at = 0; at < std::max(prev_bytes, next_bytes); at += kChunkBytes) {
    const SecretVector to_next = piece(is_prev ? &mine : nullptr, at, prev_bytes);
    const SecretVector to_prev = piece(is_next ? &mine : nullptr, at, next_bytes);
    const FromEach got = co_await lane_.hand(to_prev, to_next);
    if (newcomer()) {
      append(all.prev, got.prev);
      append(all.next, got.next);
    }
  }
  co_return all;
}

// ---- 1: what the stores are

Bytes RepairTalk::my_state() {
  Bytes out(kStateBytes);
  // Before the MAC keys of before go.
  if (store_.repair()->keeps_former()) return out;
  const Result<void> loaded = newcomer() ? Result<void>() : macs_.load_kept();
  out.clear();
  Writer w(out);
  w.u8(loaded.ok() && (!newcomer() || store_.repair()->blank()) ? kGood : 0);
  if (!newcomer() && loaded.ok()) {
    w.u32(macs_.refresh_epoch());
    w.u64(store_.count());
    w.u64(store_.repair()->tombstone_count());
    w.u8(static_cast<std::uint8_t>(macs_.kept().all().size()));
    for (const KeptMacKey& key : macs_.kept().all()) w.raw(key.id);
  }
  out.resize(kStateBytes);
  return out;
}

Result<void> RepairTalk::take_states(const std::array<Bytes, 3>& states) {
  for (int p = 0; p < 3; ++p)
    if (states[static_cast<std::size_t>(p)][0] != kGood)
      return fail("repair: " + name_of(p) +
                  (p == lost_ ? " has keys in its store: a repair fills an empty one"
                              : " cannot read its MAC keys, or keeps shares of before a refresh "
                                "that no session has begun with: `tkdc refresh --undo` on both") +
                  kAfresh);
  const Bytes& prev = states[static_cast<std::size_t>(survivor(0))];
  const Bytes& next = states[static_cast<std::size_t>(survivor(1))];
  const auto ids = ids_in(prev), others = ids_in(next);
  if (!std::ranges::equal(ByteSpan(prev).first(kStateHead), ByteSpan(next).first(kStateHead)) ||
      !ids || !others)
    return raise(name_of(survivor(0)) + " and " + name_of(survivor(1)) +
                     " have different numbers of keys, or are of different refreshes",
                 nullptr);
  Reader r(prev);
  r.u8();
  refresh_epoch_ = r.u32();
  keys_ = r.u64();
  for (const MacKeyId& id : *ids)
    if (std::ranges::count(*others, id) > 0 && std::ranges::count(common_, id) == 0)
      common_.push_back(id);
  if (common_.empty() && keys_ > 0)
    return fail(
        "repair: the two servers keep no MAC key that both have, so nobody could tell whether "
        "either tells the truth about its shares: restore the lost server's backup instead. MACs "
        "are dealt by `tkdc shares deal` while all three servers are there");
  return {};
}

Result<void> RepairTalk::begin() {
  if (!newcomer()) return store_.refresh()->begin();
  if (auto begun = store_.repair()->begin_repair(refresh_epoch_); !begun.ok()) return begun;
  return macs_.load_kept();
}

Task<Result<void>> RepairTalk::compare_stores() {
  Bytes mine = my_state();
  const std::array<Bytes, 3> states = co_await say_to_all(lane_, std::move(mine));
  Result<void> done = take_states(states);
  if (done.ok()) done = begin();
  co_return done;
}

// ---- 2: MAC keys

// Those that this server shared with the lost one. As they are drawn from: who sends another one
// cannot choose what tags it makes, so no answer to it says anything about a component.
SecretVector RepairTalk::my_pair_keys() const {
  SecretVector out;
  const bool is_prev = lane_.party() == survivor(0);
  for (const MacKeyId& id : common_) {
    const KeptMacKey* kept = macs_.kept().find(id);
    if (kept != nullptr) append(out, is_prev ? kept->with_next : kept->with_prev);
  }
  return out;
}

Result<void> RepairTalk::take_pair_keys(const FromEach& keys) {
  if (!newcomer()) return {};
  for (std::size_t k = 0; k < common_.size(); ++k) {
    const MacKeys::Where where{macs_.seat().installation, refresh_epoch_, common_[k], lost_};
    const std::size_t at = k * MacKeys::kPairBytes;
    checking_[common_[k]] =
        std::make_unique<MacKeys>(where, ByteSpan(keys.prev).subspan(at, MacKeys::kPairBytes),
                                  ByteSpan(keys.next).subspan(at, MacKeys::kPairBytes));
  }
  return {};
}

Task<Result<void>> RepairTalk::hand_keys() {
  const std::size_t bytes = common_.size() * MacKeys::kPairBytes;
  SecretVector mine = newcomer() ? SecretVector() : my_pair_keys();
  mine.resize(bytes);
  const FromEach keys = co_await transfer(mine, bytes, bytes);
  Result<void> taken = take_pair_keys(keys);
  co_return taken;
}

// ---- 3: pages

namespace {

Bytes page_head(const Result<void>& sound, bool last, std::uint16_t count, ByteSpan digest,
                std::size_t octets) {
  Bytes out;
  Writer w(out);
  w.u8(sound.ok() ? kGood : 0);
  w.u8(last ? 1 : 0);
  w.u16(count);
  w.raw(digest);
  w.u32(static_cast<std::uint32_t>(octets));
  return out;
}

}  // namespace

// Nothing is sent before the two have said that it is the same.
Task<RepairTalk::Got> RepairTalk::send_page(Page mine) {
  Bytes head = page_head(mine.sound, mine.last, mine.count, mine.digest, mine.octets.size());
  const std::array<Bytes, 3> heads = co_await say_to_all(lane_, std::move(head));
  const Bytes& prev = heads[static_cast<std::size_t>(survivor(0))];
  const Bytes& next = heads[static_cast<std::size_t>(survivor(1))];
  Got got;
  if (prev[0] != kGood || next[0] != kGood)
    got.alike = mine.sound.ok()
                    ? Result<void>(fail("repair: " + name_of(survivor(prev[0] != kGood ? 0 : 1)) +
                                        " cannot send its records; its journal says why"))
                    : mine.sound;
  else if (!std::ranges::equal(ByteSpan(prev).first(kPageHead - 4),
                               ByteSpan(next).first(kPageHead - 4)))
    got.alike = raise(name_of(survivor(0)) + " and " + name_of(survivor(1)) +
                          " do not have the same records, or not MACs of the same dealings",
                      nullptr);
  const std::size_t prev_bytes = Reader(ByteSpan(prev).last(4)).u32();
  const std::size_t next_bytes = Reader(ByteSpan(next).last(4)).u32();
  if (got.alike.ok() && std::max(prev_bytes, next_bytes) > kMaxRepairPageBytes)
    got.alike = fail("repair: a page of records is too long");
  if (!got.alike.ok()) co_return got;
  over_ = prev[1] != 0;
  got.count = Reader(ByteSpan(prev).subspan(2, 2)).u16();
  got.pages = co_await transfer(mine.octets, prev_bytes, next_bytes);
  co_return got;
}

RepairTalk::Page RepairTalk::tombstone_page() {
  Page page;
  auto read = store_.repair()->tombstones(at_, kPageTombstones);
  if (!read.ok()) {
    page.sound = read.error();
    return page;
  }
  page.last = read->size() < kPageTombstones;
  page.count = static_cast<std::uint16_t>(read->size());
  SecretWriter w(page.octets);
  for (const Tombstone& one : *read) {
    w.raw(one.id);
    w.raw(one.header);
  }
  if (!read->empty()) at_ = read->back().id;
  crypto_generichash(page.digest.data(), page.digest.size(), page.octets.data(), page.octets.size(),
                     nullptr, 0);
  return page;
}

Result<void> RepairTalk::take_tombstones(const Got& got) {
  const SecretVector& prev = got.pages.prev;
  const std::size_t bytes = got.count * (sizeof(KeyId) + Tombstone::kHeaderBytes);
  if (got.count > kPageTombstones || prev.size() != bytes || got.pages.next != prev)
    return raise(name_of(survivor(0)) + " and " + name_of(survivor(1)) +
                     " send different lists of keys that were destroyed",
                 nullptr);
  std::vector<Tombstone> all(got.count);
  Reader r(prev);
  for (Tombstone& one : all) {
    r.array(one.id);
    r.array(one.header);
  }
  return store_.repair()->add_tombstones(all);
}

Task<Result<void>> RepairTalk::tombstones() {
  Page mine;
  if (!newcomer()) mine = tombstone_page();
  const Got got = co_await send_page(std::move(mine));
  Result<void> done = got.alike;
  if (done.ok() && newcomer()) done = take_tombstones(got);
  co_return done;
}

Result<void> RepairTalk::put_record(const StoredKey& key, Page& page,
                                    crypto_generichash_state* state) {
  const KeyRecord& record = *key.record;
  const bool has = key.macs && std::ranges::count(common_, key.macs->key) > 0 &&
                   key.macs->version == record.version &&
                   key.macs->refresh_epoch == refresh_epoch_ &&
                   record.sharing == kReplicatedSharing;
  // That of the component which the lost server had, too.
  const std::size_t place = lane_.party() == survivor(0) ? 1 : 0;
  const std::size_t bytes = has ? mac_subject(record, Bytes()).bytes() : 0;
  if (!has || key.macs->tag[place].size() != bytes)
    return fail("repair: key " + to_hex(record.ref.id) +
                " has no MACs here that both servers could prove it by, so nobody could tell "
                "whether either tells the truth about it: restore the lost server's backup "
                "instead. MACs are dealt by `tkdc shares deal` while all three servers are there");
  if (page.octets.size() + 2 * bytes > kMaxRepairPageBytes / 2)
    return fail("repair: keys have too many octets for a page of " + std::to_string(kPageKeys));
  auto mark = store_.seal_mark(record.ref.id);
  if (!mark.ok()) return mark.error();
  const Bytes said = repair_said(record, *key.macs);
  crypto_generichash_update(state, said.data(), said.size());
  put_repair_half(page.octets, key, said, place, *mark);
  return {};
}

RepairTalk::Page RepairTalk::record_page(std::vector<std::shared_ptr<const KeyRecord>>& out) {
  Page page;
  auto read = store_.macs()->page(at_, kPageKeys);
  if (!read.ok()) page.sound = read.error();
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, page.digest.size());
  if (read.ok())
    for (const StoredKey& key : *read) {
      if (page.sound.ok()) page.sound = put_record(key, page, &state);
      out.push_back(key.record);
    }
  crypto_generichash_final(&state, page.digest.data(), page.digest.size());
  page.last = out.size() < kPageKeys;
  page.count = static_cast<std::uint16_t>(out.size());
  if (!out.empty()) at_ = out.back()->ref.id;
  if (!page.sound.ok()) {
    page.octets.clear();
    alarm_.raise(page.sound.error().message, nullptr);
  }
  return page;
}

Result<std::shared_ptr<const KeyRecord>> RepairTalk::take_record(const RepairHalf& prev,
                                                                 const RepairHalf& next) {
  auto record = join_halves(prev, next);
  if (!record)
    return raise(name_of(survivor(0)) + " and " + name_of(survivor(1)) +
                     " say different things of key " + to_hex(prev.record.ref.id),
                 nullptr)
        .error();
  const auto keys = checking_.find(prev.key);
  for (const RepairHalf* half : {&prev, &next}) {
    const int sender = survivor(half == &prev ? 0 : 1), other = survivor(half == &prev ? 1 : 0);
    if (keys == checking_.end() || !is_proved(*keys->second, sender, *half))
      return raise("key " + to_hex(record->ref.id) + ": what " + name_of(sender) +
                       " sent of it is not what the lost server dealt MACs for, or " +
                       name_of(other) + " gave another MAC key than it had with the lost server",
                   &*record)
          .error();
  }
  const std::uint64_t mark = std::max(prev.seal_mark, next.seal_mark);
  if (mark > 0)
    if (auto kept = store_.set_seal_mark(record->ref.id, mark); !kept.ok()) return kept.error();
  return std::shared_ptr<const KeyRecord>(std::make_shared<KeyRecord>(std::move(*record)));
}

Result<void> RepairTalk::take_records(const Got& got,
                                      std::vector<std::shared_ptr<const KeyRecord>>& out) {
  const InstallationId& installation = macs_.seat().installation;
  const bool fits = got.count <= kPageKeys;
  const auto prev = fits ? get_repair_halves(got.pages.prev, got.count, installation)
                         : std::optional<std::vector<RepairHalf>>();
  const auto next = fits ? get_repair_halves(got.pages.next, got.count, installation)
                         : std::optional<std::vector<RepairHalf>>();
  if (!prev || !next)
    return raise(name_of(survivor(prev ? 1 : 0)) + " sends a page of records that is malformed",
                 nullptr);
  for (std::size_t k = 0; k < prev->size(); ++k) {
    auto record = take_record((*prev)[k], (*next)[k]);
    if (!record.ok()) return record.error();
    const KeyId& id = (*record)->ref.id;
    if (at_ && !std::ranges::lexicographical_compare(*at_, id))
      return raise("keys come out of their order", nullptr);
    at_ = id;
    out.push_back(std::move(*record));
  }
  return {};
}

Task<Result<void>> RepairTalk::records(std::vector<std::shared_ptr<const KeyRecord>>& out) {
  Page mine;
  if (!newcomer()) mine = record_page(out);
  const Got got = co_await send_page(std::move(mine));
  Result<void> done = got.alike;
  if (done.ok() && newcomer()) done = take_records(got, out);
  co_return done;
}

// ---- 4: before anything is committed

Task<Result<void>> RepairTalk::compare_inventories() {
  auto mine = store_.repair()->next_inventory();
  Bytes said(1 + 32);
  if (mine.ok()) {
    said[0] = kGood;
    std::ranges::copy(*mine, said.begin() + 1);
  }
  const std::array<Bytes, 3> all = co_await say_to_all(lane_, std::move(said));
  Result<void> done;
  if (!mine.ok())
    done = mine.error();
  else if (all[0] != all[1] || all[0] != all[2])
    done = raise("the three stores would not be alike", nullptr);
  co_return done;
}

}  // namespace tkdc
