// SPDX-License-Identifier: Apache-2.0
// A store that takes the place of one that is lost, and what the two others say of theirs.
#include <algorithm>
#include <utility>

#include "service/store/record_store.h"

namespace tkdc {
namespace {

constexpr std::uint8_t kPeersFormat = 1;
constexpr std::size_t kTombstoneRoom = 256;  // of one, with what the database needs for it

}  // namespace

bool RecordStore::blank() {
  Txn txn(*tables_, false);
  std::size_t keys = 0;
  return txn.begun() == 0 && txn->count(kCommitted, keys) == 0 && keys == 0;
}

bool RecordStore::keeps_former() {
  std::lock_guard lock(write_mutex_);
  return refresh_.other == Other::kBefore || switch_due_;
}

Result<void> RecordStore::begin_repair(std::uint32_t epoch) {
  std::lock_guard lock(write_mutex_);
  if (refresh_.other == Other::kComplete || switch_due_)
    return fail("store: a repair is half done; it is settled when the next session starts");
  if (!blank())
    return fail("store: " + options_.path +
                " has keys: it is no store of a new server, and nothing of it is replaced");
  Refresh next = refresh_;
  next.is = {epoch, 0};
  next.other_at_s = 0;
  has_dropped_ = false;
  auto begun = begin_next("beginning a repair", next, [&](Txn& txn) {
    int rc = empty_next(txn);
    for (Table table : {kPrepared, kTombstones, kCondemned, kSeals, kMacs, kDropped})
      if (rc == 0) rc = txn->clear(table);
    return rc;
  });
  if (!begun.ok()) has_dropped_ = dropped_count() > 0;
  if (begun.ok()) tidy_due_ = false;
  // Emptied it may be all the same.
  serve_refreshed();
  cache_.forget_all();
  return begun;
}

std::size_t RecordStore::tombstone_count() {
  Txn txn(*tables_, false);
  std::size_t entries = 0;
  if (txn.begun() != 0 || txn->count(kTombstones, entries) != 0) return 0;
  return entries;
}

Result<std::vector<Tombstone>> RecordStore::tombstones(const std::optional<KeyId>& after,
                                                       std::size_t most) {
  std::vector<Tombstone> out;
  Result<void> sound;
  Txn txn(*tables_, false);
  const auto take = [&](ByteSpan name, ByteSpan value) {
    Tombstone& one = out.emplace_back();
    std::copy_n(name.begin(), std::min(name.size(), one.id.size()), one.id.begin());
    SecretVector nothing;
    ByteSpan header;
    if (name.size() != one.id.size() ||
        !cipher_.decrypt(Tables::kNames[kTombstones], name, value, nothing) ||
        !StoreCipher::header(value, one.header.size(), header))
      sound = corrupt(kTombstones, one.id);
    else
      std::ranges::copy(header, one.header.begin());
    return sound.ok() && out.size() < most;
  };
  int rc = txn.begun();
  if (rc == 0 && most > 0)
    rc = after ? txn->each_after(kTombstones, *after, take) : txn->each(kTombstones, take);
  if (!sound.ok()) return sound.error();
  if (rc != 0) return failed("listing keys that were destroyed", rc);
  return out;
}

Result<void> RecordStore::add_tombstones(std::span<const Tombstone> tombstones) {
  std::lock_guard lock(write_mutex_);
  if (int full = tables_->check_room(kPrepared, tombstones.size() * kTombstoneRoom); full != 0)
    return failed("storing which keys were destroyed", full);
  return write("storing which keys were destroyed", [&](Txn& txn) {
    int rc = 0;
    for (const Tombstone& one : tombstones)
      if (rc == 0)
        rc = txn->put(kTombstones, one.id,
                      cipher_.encrypt(Tables::kNames[kTombstones], one.id, one.header, {}));
    return rc;
  });
}

Result<void> RecordStore::prepare_repair(std::uint64_t at_s, std::uint64_t keys) {
  std::lock_guard lock(write_mutex_);
  return prepare_next("preparing a repair", at_s, keys);
}

Result<void> RecordStore::keep_common(std::span<const Tombstone> gone,
                                      std::span<const DroppedKey> dropped) {
  std::lock_guard lock(write_mutex_);
  if (refresh_.other != Other::kNothing || switch_due_)
    return fail("store: a refresh is half done here: start all three servers, or undo it");
  if (int full = tables_->check_room(kPrepared, (gone.size() + dropped.size()) * kTombstoneRoom);
      full != 0)
    return failed("storing which keys are kept", full);
  bool has_dropped = has_dropped_;
  auto kept = write("storing which keys are kept", [&](Txn& txn) {
    int rc = 0;
    for (Table table : {kPrepared, kCondemned, kDropped})
      if (rc == 0) rc = txn->clear(table);
    for (const Tombstone& one : gone) {
      for (Table table : {kCommitted, kMacs, kSeals, kNext, kNextMacs})
        if (rc == 0) rc = txn->erase(table, one.id);
      if (rc == 0)
        rc = txn->put(kTombstones, one.id,
                      cipher_.encrypt(Tables::kNames[kTombstones], one.id, one.header, {}));
    }
    for (const DroppedKey& one : dropped)
      if (rc == 0) rc = put_dropped(txn, one.id, {DroppedState::kDropped, one.at_s});
    return rc == 0 ? note_dropped(txn, has_dropped) : rc;
  });
  if (kept.ok()) {
    has_dropped_ = has_dropped;
    cache_.forget_all();
  }
  return kept;
}

Result<Digest> RecordStore::next_inventory() { return inventory_of(kNext, refresh_epoch() + 1); }

// format u8 | count u16 | each: party u8, refused u8, SHA-256
Result<std::vector<PeerCertificate>> RecordStore::peers() {
  std::vector<PeerCertificate> out;
  Txn txn(*tables_, false);
  ByteSpan value;
  int rc = txn.begun();
  if (rc == 0) rc = txn->find(kMeta, meta::kPeers, value);
  if (rc == Tables::kNotFound) return out;
  if (rc != 0) return failed("reading the peers' certificates", rc);
  SecretVector text;
  bool sound = cipher_.decrypt(Tables::kNames[kMeta], meta::kPeers, value, text);
  Reader r(text);
  const std::uint8_t format = r.u8();
  const std::size_t count = r.u16();
  sound = sound && format == kPeersFormat && count <= kMostPeerCertificates;
  for (std::size_t k = 0; sound && k < count; ++k) {
    PeerCertificate& one = out.emplace_back();
    one.party = r.u8();
    const std::uint8_t refused = r.u8();
    one.refused = refused == 1;
    r.array(one.sha256);
    sound = one.party <= 2 && refused <= 1;
  }
  if (!sound || !r.complete())
    return fail("store: the peers' certificates in " + options_.path +
                " are corrupt; restore the store from its backup");
  return out;
}

Result<void> RecordStore::set_peers(std::span<const PeerCertificate> peers) {
  if (peers.size() > kMostPeerCertificates)
    return fail("store: there are too many certificates of peers");
  Bytes text;
  Writer w(text);
  w.u8(kPeersFormat);
  w.u16(static_cast<std::uint16_t>(peers.size()));
  for (const PeerCertificate& one : peers) {
    w.u8(static_cast<std::uint8_t>(one.party));
    w.u8(one.refused ? 1 : 0);
    w.raw(one.sha256);
  }
  std::lock_guard lock(write_mutex_);
  return write("storing the peers' certificates", [&](Txn& txn) {
    return txn->put(kMeta, meta::kPeers,
                    cipher_.encrypt(Tables::kNames[kMeta], meta::kPeers, {}, text));
  });
}

}  // namespace tkdc
