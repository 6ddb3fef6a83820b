// SPDX-License-Identifier: Apache-2.0
// Dropped keys: in no operation's reach, in every work on records; and each step of dropping,
// giving back and purging, as the two other servers' answers settle it after a crash.
#include "scratch_store.h"
#include "service/store/dropped_table.h"
#include "service/store/key_count.h"
#include "service/store/mac_table.h"
#include "service/store/refresh_table.h"
#include "service/store/store_filler.h"
#include "service/store/store_snapshot.h"

namespace tkdc {
namespace {

constexpr std::uint64_t kAt = 1'700'000'064;

class Dropped : public ScratchStore {
 protected:
  void SetUp() override {
    open();
    for (std::uint32_t number = 1; number <= 3; ++number) add(number);
  }
  DroppedTable& table() { return *store_->dropped(); }
  void drop(std::uint32_t number, std::uint64_t at_s = kAt) {
    ASSERT_TRUE(table().condemn_to_drop(id_of(number), at_s).ok());
    ASSERT_TRUE(store_->destroy(id_of(number)).ok());
  }
  bool in_use(std::uint32_t number) { return store_->get(id_of(number)).value() != nullptr; }
  Digest inventory() { return store_->inventory().value(); }
};

TEST_F(Dropped, IsOutOfReachAndKept) {
  ASSERT_TRUE(in_use(2));  // and in the cache
  ASSERT_TRUE(store_->set_seal_mark(id_of(2), 9).ok());
  const Digest before = inventory();
  drop(2);
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_FALSE(in_use(2));
    EXPECT_FALSE(store_->committed(id_of(2)).value());
    EXPECT_EQ(store_->ids_behind({}, 9).value(), (std::vector<KeyId>{id_of(1), id_of(3)}));
    EXPECT_EQ(table().dropped_behind({}, 9).value(), (std::vector<DroppedKey>{{id_of(2), kAt}}));
    EXPECT_EQ(table().dropped_behind(id_of(2), 9).value(), std::vector<DroppedKey>{});
    EXPECT_EQ(table().dropped_count(), 1u);
    EXPECT_EQ(table().dropped_first_at().value(), std::optional<std::uint64_t>(kAt));
    EXPECT_EQ(store_->count(), 3u);
    EXPECT_NE(inventory(), before);
    // What works on all records has it.
    const auto page = store_->macs()->page(std::nullopt, 9).value();
    ASSERT_EQ(page.size(), 3u);
    EXPECT_EQ(page[1].record->dropped_at_s, kAt);
    EXPECT_EQ(page[0].record->dropped_at_s, 0u);
    const auto record = table().dropped_record(id_of(2)).value();
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->principal_name, "user2@EXAMPLE.ORG");
    EXPECT_EQ(record->dropped_at_s, kAt);
    EXPECT_EQ(store_->seal_mark(id_of(2)).value(), 9u);
    open();
  }
  EXPECT_FALSE(store_->prepare(record(2)).ok()) << "its id is taken";
  EXPECT_FALSE(store_->condemn(id_of(2)).ok());
  EXPECT_EQ(table().dropped_record(id_of(1)).value(), nullptr);
}

// A package asks so whether it may be removed: what nobody can use holds nobody up.
TEST_F(Dropped, IsNotCountedWithoutTheStoresKey) {
  drop(2);
  store_.reset();  // one process opens an environment of LMDB once, and who counts is another
  EXPECT_EQ(count_keys(options_.path).value(), 2u);
}

TEST_F(Dropped, ComesBackAsItWas) {
  const Digest before = inventory();
  drop(2);
  ASSERT_TRUE(table().prepare_change(id_of(2), DroppedChange::kGiveBack).ok());
  EXPECT_FALSE(in_use(2)) << "in use before all three are ready";
  EXPECT_FALSE(table().prepare_change(id_of(2), DroppedChange::kPurge).ok());
  ASSERT_TRUE(store_->commit(id_of(2)).ok());
  EXPECT_TRUE(in_use(2));
  EXPECT_EQ(inventory(), before);
  EXPECT_EQ(table().dropped_count(), 0u);
  EXPECT_EQ(table().dropped_first_at().value(), std::nullopt);
  EXPECT_FALSE(table().prepare_change(id_of(2), DroppedChange::kGiveBack).ok());
  open();
  EXPECT_TRUE(in_use(2));
}

TEST_F(Dropped, WhatWasPurgedNeverComesBack) {
  drop(2);
  ASSERT_TRUE(table().prepare_change(id_of(2), DroppedChange::kPurge).ok());
  ASSERT_TRUE(store_->commit(id_of(2)).ok());
  EXPECT_TRUE(store_->buried(id_of(2)).value());
  EXPECT_EQ(store_->count(), 2u);
  EXPECT_EQ(store_->macs()->page(std::nullopt, 9).value().size(), 2u);
  EXPECT_FALSE(table().prepare_change(id_of(2), DroppedChange::kGiveBack).ok());
  EXPECT_FALSE(store_->commit(id_of(2)).ok());
  EXPECT_FALSE(store_->prepare(record(2)).ok());
  open();
  EXPECT_FALSE(in_use(2));
}

// One server stopped after each step; another's answers settle it. `mine` asks, `other` has gone
// on.
TEST_F(Dropped, EachStepIsSettledByWhatAnotherHas) {
  const auto settle = [&](Store& other) {
    const auto prepared = store_->prepared().value(), condemned = store_->condemned().value();
    for (const KeyId& id : prepared) {
      const bool done = other.committed(id).value();
      ASSERT_TRUE((done ? store_->commit(id) : store_->abandon(id)).ok());
    }
    for (const KeyId& id : condemned) {
      const bool done = other.buried(id).value();
      ASSERT_TRUE((done ? store_->destroy(id) : store_->pardon(id)).ok());
    }
    EXPECT_EQ(inventory(), other.inventory().value());
    EXPECT_TRUE(store_->prepared().value().empty());
    EXPECT_TRUE(store_->condemned().value().empty());
  };
  StoreOptions others = options_;
  others.path += "-2";
  auto other = Store::open(others, key_).value();
  for (std::uint32_t number = 1; number <= 3; ++number) {
    ASSERT_TRUE(other->prepare(record(number)).ok());
    ASSERT_TRUE(other->commit(id_of(number)).ok());
  }
  const KeyId id = id_of(2);
  // Of a drop: condemned here and not there; condemned at both and done there.
  ASSERT_TRUE(table().condemn_to_drop(id, kAt).ok());
  settle(*other);
  EXPECT_TRUE(in_use(2));
  for (Store* one : {store_.get(), other.get()})
    ASSERT_TRUE(one->dropped()->condemn_to_drop(id, kAt).ok());
  ASSERT_TRUE(other->destroy(id).ok());
  open();
  settle(*other);
  EXPECT_FALSE(in_use(2));
  // Of giving back, and of a purge: prepared here alone; prepared at both and done there.
  for (const DroppedChange change : {DroppedChange::kGiveBack, DroppedChange::kPurge}) {
    ASSERT_TRUE(table().prepare_change(id, change).ok());
    settle(*other);
    EXPECT_EQ(table().dropped_count(), 1u);
    for (Store* one : {store_.get(), other.get()})
      ASSERT_TRUE(one->dropped()->prepare_change(id, change).ok());
    ASSERT_TRUE(other->commit(id).ok());
    open();
    settle(*other);
    EXPECT_EQ(in_use(2), change == DroppedChange::kGiveBack);
    if (change == DroppedChange::kPurge) break;
    drop(2);
    ASSERT_TRUE(other->dropped()->condemn_to_drop(id, kAt).ok());
    ASSERT_TRUE(other->destroy(id).ok());
  }
  EXPECT_TRUE(store_->buried(id).value());
}

// A release without dropped keys would use them: it refuses the store, until there is none.
TEST_F(Dropped, TheFormatSaysSoWhileThereAreAny) {
  const auto format = [&] {
    store_.reset();
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes).value();
    Txn txn(*tables, false);
    ByteSpan owner;
    EXPECT_EQ(txn->find(Tables::kMeta, octets("owner"), owner), 0);
    return static_cast<int>(owner[0]);
  };
  EXPECT_EQ(format(), 10);
  open();
  drop(2);
  drop(3);
  EXPECT_EQ(format(), 14);
  open();
  for (std::uint32_t number : {2u, 3u}) {
    ASSERT_TRUE(table().prepare_change(id_of(number), DroppedChange::kPurge).ok());
    ASSERT_TRUE(store_->commit(id_of(number)).ok());
  }
  EXPECT_EQ(format(), 10);
  open();
}

TEST_F(Dropped, ARefreshMakesThemNew) {
  drop(2);
  RefreshTable& refresh = *store_->refresh();
  ASSERT_TRUE(refresh.begin().ok());
  const auto page = store_->macs()->page(std::nullopt, 9).value();
  for (const StoredKey& key : page) {
    RefreshedKey fresh{*key.record, {}};
    fresh.record.version = 2;
    ASSERT_TRUE(refresh.add(std::span(&fresh, 1)).ok());
  }
  ASSERT_TRUE(refresh.prepare_refresh(1).ok());
  ASSERT_TRUE(refresh.commit_refresh().ok());
  refresh.switch_over();
  EXPECT_FALSE(in_use(2));
  EXPECT_EQ(table().dropped_record(id_of(2)).value()->version, 2u);
  EXPECT_EQ(table().dropped_count(), 1u);
}

TEST_F(Dropped, ARekeyRewritesThem) {
  drop(2);
  SecretBuffer next(32);
  randombytes_buf(next.data(), next.size());
  ASSERT_TRUE(store_->begin_rekey(key_, next).ok());
  RekeyAt at;
  while (store_->rewrite(2, at).value() != 0) {
  }
  ASSERT_TRUE(store_->end_rekey(next).ok());
  store_.reset();
  auto again = Store::open(options_, next);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ((*again)->dropped()->dropped_record(id_of(2)).value()->dropped_at_s, kAt);
}

TEST_F(Dropped, ABackupHasThem) {
  drop(2);
  const Digest was = inventory();
  store_.reset();
  auto snapshot = StoreSnapshot::take(options_, key_).value();
  EXPECT_EQ(snapshot->moment().inventory, was);
  EXPECT_EQ(snapshot->moment().records, 3u);
  StoreOptions copy = options_;
  copy.path += "-copy";
  {
    auto filler = StoreFiller::create(copy, key_, {}).value();
    ASSERT_TRUE(snapshot->each([&](const StoredValue& v) { return filler->put(v); }).ok());
    ASSERT_TRUE(filler->finish().ok());
  }
  auto restored = Store::open(copy, key_);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ((*restored)->inventory().value(), was);
  EXPECT_EQ((*restored)->get(id_of(2)).value(), nullptr);
  EXPECT_EQ((*restored)->dropped()->dropped_record(id_of(2)).value()->dropped_at_s, kAt);
}

// The handshake would take its purge for a refresh.
TEST_F(Dropped, NoKeyHasAnIdWhosePurgeIsAnotherEntry) {
  KeyRecord bad = record(9);
  const std::string purge = "tkdc purge entry", refresh = "tkdc refresh";
  for (std::size_t k = 0; k < bad.ref.id.size(); ++k)
    bad.ref.id[k] = static_cast<std::uint8_t>(purge[k] ^ (k < refresh.size() ? refresh[k] : 0));
  EXPECT_FALSE(store_->prepare(bad).ok());
  bad.ref.id[0] ^= 1;
  EXPECT_TRUE(store_->prepare(bad).ok());
}

// Of a row that was changed, or moved from another key, nothing is believed.
TEST_F(Dropped, ARowThatWasChangedIsAnError) {
  drop(2);
  store_.reset();
  {
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes).value();
    Txn txn(*tables, true);
    ByteSpan row;
    ASSERT_EQ(txn->find(Tables::kDropped, id_of(2), row), 0);
    Bytes changed(row.begin(), row.end());
    changed[2] ^= 1;  // its time
    ASSERT_EQ(txn->put(Tables::kDropped, id_of(2), changed), 0);
    ASSERT_EQ(txn->commit(), 0);
  }
  open();
  EXPECT_FALSE(store_->get(id_of(2)).ok());
  EXPECT_FALSE(table().dropped_record(id_of(2)).ok());
  EXPECT_FALSE(table().prepare_change(id_of(2), DroppedChange::kGiveBack).ok());
}

}  // namespace
}  // namespace tkdc
