// SPDX-License-Identifier: Apache-2.0
// `tkdc store rekey` beside keys of refresh epochs: it gives them to a store that has none.
#include "epoch_keys.h"

namespace tkdc {
namespace {

// With shares of before, to which there is a way back afterwards.
TEST_F(EpochKeys, TheStoresKeysAreChangedBesideThem) {
  fill();
  ASSERT_TRUE(refresh_to_commit(*store_, all(2)).ok());
  store_.reset();
  const std::vector<RawValue> rows = raw_rows();
  const StoreKeys before = keys();
  EXPECT_EQ(opening(rows, before), rows.size());
  open();
  SecretBuffer next = draw_store_key();
  ASSERT_TRUE(store_->begin_rekey(key_, next).ok());
  ASSERT_NO_FATAL_FAILURE(settles(true, false));  // and opens in between
  RekeyAt at;
  ASSERT_TRUE(store_->begin_rekey(key_, next).ok());
  ASSERT_EQ(store_->rewrite(4, at).value(), 4u);
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
  ASSERT_TRUE(store_->begin_rekey(key_, next).ok());
  at = {};
  while (store_->rewrite(4, at).value() > 0) continue;
  ASSERT_TRUE(store_->end_rekey(next).ok());
  key_ = std::move(next);
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
  store_.reset();
  EXPECT_EQ(epochs(), 2u);
  EXPECT_EQ(opening(rows, keys()), 0u);
  const std::vector<RawValue> now = raw_rows();
  EXPECT_EQ(now.size(), rows.size());
  EXPECT_EQ(opening(now, keys()), now.size());
  EXPECT_EQ(opening(now, before), 0u);
  open();
  ASSERT_TRUE(store_->refresh()->undo_refresh().ok());
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
  EXPECT_EQ(version(1), 1u);
}

// Of one level, and refreshed before or not: what the rekey leaves is under keys of epochs, so that
// the next refresh takes what is left of it along.
TEST_F(EpochKeys, AChangeOfTheStoresKeysGivesThemToAStoreOfOneLevel) {
  for (const bool refreshed_before : {false, true})
    for (const bool way_back : {false, true}) {
      SCOPED_TRACE(std::to_string(refreshed_before) + std::to_string(way_back));
      store_.reset();
      fs::remove_all(options_.path);
      without_keyring();
      fill();
      std::uint32_t is = 1;
      if (refreshed_before) {
        ASSERT_TRUE(refresh_to_end(*store_, all(++is)).ok());
      }
      if (way_back) {
        ASSERT_TRUE(refresh_to_commit(*store_, all(++is)).ok());
      }
      rekey();
      ASSERT_NO_FATAL_FAILURE(settles(true, false));
      EXPECT_EQ(version(1), is);
      store_.reset();
      EXPECT_EQ(epochs(), way_back ? 2u : 1u);
      EXPECT_EQ(store_format(), is > 1 ? 12 : 10);
      store_.reset();
      const std::vector<RawValue> rows = raw_rows();
      EXPECT_EQ(opening(rows, keys()), rows.size());
      StoreKeys bare = keys();
      bare.epochs.clear();
      EXPECT_EQ(opening(rows, bare), 0u) << "none is under the store's key itself";
      open();
      ASSERT_TRUE(refresh_to_end(*store_, all(++is)).ok());
      EXPECT_EQ(epochs(), 1u);
      EXPECT_EQ(opening(rows, keys()), 0u) << "one refresh is enough";
      ASSERT_NO_FATAL_FAILURE(settles(true, true));
      EXPECT_EQ(version(1), is);
    }
}

TEST_F(EpochKeys, ACrashAtEachWriteOfTheFirstChangeOfTheStoresKeys) {
  const SecretBuffer next = draw_store_key(), first = copy_of(key_);
  for (const bool one_level : {false, true})
    for (const bool behind : {false, true})
      for (int number = 1;; ++number) {
        SCOPED_TRACE(std::to_string(number) + (behind ? " behind" : " before") +
                     (one_level ? " one" : " two"));
        store_.reset();
        fs::remove_all(options_.path);
        key_ = copy_of(first);
        if (one_level) {
          without_keyring();
          ASSERT_NO_FATAL_FAILURE(fill());
        } else {
          ASSERT_NO_FATAL_FAILURE(fill_as_before());
        }
        const int ended =
            run_until(number, behind, [&](Store& store) { return rekeyed(store, next); });
        ASSERT_TRUE(ended == kDied || ended == kEnded) << ended;
        if (ended == kEnded) key_ = copy_of(next);
        ASSERT_NO_FATAL_FAILURE(settles(true, false));
        EXPECT_EQ(version(1), 1u);
        if (ended == kEnded) {
          EXPECT_GE(number, 5);
          break;
        }
        ASSERT_TRUE(store_->prepare(record(20)).ok()) << "the server works meanwhile";
        ASSERT_TRUE(store_->commit(id_of(20)).ok());
        const NamedMacs row{id_of(20), refreshed(20, 1).macs};
        ASSERT_TRUE(store_->macs()->put(std::span(&row, 1)).ok());
        auto done = rekeyed(*store_, next);
        ASSERT_TRUE(done.ok()) << done.error().message;
        key_ = copy_of(next);
        ASSERT_NO_FATAL_FAILURE(settles(true, true));
        EXPECT_EQ(epochs(), 1u);
        store_.reset();
        const std::vector<RawValue> rows = raw_rows();
        StoreKeys bare = keys();
        EXPECT_FALSE(bare.bare_rows);
        EXPECT_EQ(opening(rows, bare), rows.size());
        bare.epochs.clear();
        EXPECT_EQ(opening(rows, bare), 0u);
      }
}

// Killed between the file and the name, and again: `keys` has room for four.
TEST_F(EpochKeys, ChangesOfTheStoresKeysThatAreCutDoNotFillTheFile) {
  for (const bool way_back : {false, true}) {
    SCOPED_TRACE(way_back);
    store_.reset();
    fs::remove_all(options_.path);
    without_keyring();
    fill();
    if (way_back) {
      ASSERT_TRUE(refresh_to_commit(*store_, all(2)).ok());
    }
    const SecretBuffer next = draw_store_key();
    constexpr int kNaming = 2;  // the format comes before it
    for (int cut = 0; cut < 6; ++cut) {
      ASSERT_EQ(run_until(kNaming, false, [&](Store& store) { return rekeyed(store, next); }),
                kDied);
      EXPECT_EQ(epochs(), way_back ? 2u : 1u);
      ASSERT_NO_FATAL_FAILURE(settles(true, false));
    }
    store_.reset();
    auto of_before = keys();
    while (of_before.epochs.size() < kMaxEpochKeys) of_before.epochs.push_back(draw_epoch_key());
    ASSERT_TRUE(Keyring(options_.path, owner()).write(of_before, {&key_, &next}).ok());
    open();
    const auto done = rekeyed(*store_, next);
    ASSERT_TRUE(done.ok()) << done.error().message;
    key_ = copy_of(next);
    EXPECT_EQ(epochs(), way_back ? 2u : 1u);
    ASSERT_NO_FATAL_FAILURE(settles(true, false));
    EXPECT_EQ(version(1), way_back ? 2u : 1u);
  }
}

// Until then the database that needs them may be put back.
TEST_F(EpochKeys, WhatNothingNamesGoesWithTheEndOfAChangeOfTheStoresKeys) {
  fill();
  store_.reset();
  fs::copy_file(file("data.mdb"), directory_ + "/data.before");
  open();
  ASSERT_TRUE(refresh_to_end(*store_, all(2)).ok());
  ASSERT_TRUE(refresh_to_commit(*store_, all(3)).ok());
  store_.reset();
  StoreKeys more = keys();
  const EpochKeyId former = more.epochs.at(0).id, serving = more.epochs.at(1).id;
  for (int k = 0; k < 2; ++k) more.epochs.push_back(draw_epoch_key());
  ASSERT_TRUE(Keyring(options_.path, owner()).write_epochs(more).ok());
  const SecretBuffer next = draw_store_key();
  open();
  ASSERT_TRUE(store_->begin_rekey(key_, next).ok());
  EXPECT_EQ(epochs(), 4u);
  const auto done = rekeyed(*store_, next);
  ASSERT_TRUE(done.ok()) << done.error().message;
  key_ = copy_of(next);
  const StoreKeys left = keys();
  ASSERT_EQ(left.epochs.size(), 2u);
  EXPECT_NE(find_epoch_key(left, former), nullptr) << "there is a way back";
  EXPECT_NE(find_epoch_key(left, serving), nullptr);
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
  ASSERT_TRUE(store_->refresh()->undo_refresh().ok());
  EXPECT_EQ(version(1), 2u);
  store_.reset();
  fs::copy_file(directory_ + "/data.before", file("data.mdb"),
                fs::copy_options::overwrite_existing);
  EXPECT_FALSE(Store::open(options_, key_).ok()) << "no key of the store's would open it";
}

// Whoever has the store's key alone puts nothing there that is read.
TEST_F(EpochKeys, ARowUnderTheStoresKeyItselfIsRefusedWhereAllHaveAnEpochs) {
  for (const bool as_before : {false, true}) {
    SCOPED_TRACE(as_before);
    store_.reset();
    fs::remove_all(options_.path);
    as_before ? fill_as_before() : fill();
    const auto reads = [&](Tables::Table serving) {
      store_.reset();
      put_under_stores_key(serving, 1);
      open();
      return store_->get(id_of(1)).ok();
    };
    if (as_before) {
      EXPECT_TRUE(reads(Tables::kCommitted)) << "the control: it is under that";
      ASSERT_TRUE(refresh_to_commit(*store_, all(2)).ok());
      ASSERT_TRUE(store_->refresh()->begun_with().ok());
      ASSERT_NO_FATAL_FAILURE(settles(true, false));  // MAC keys are under it still
      ASSERT_NO_FATAL_FAILURE(settles(true, true));
    }
    EXPECT_FALSE(reads(as_before ? Tables::kNext : Tables::kCommitted));
  }
}

}  // namespace
}  // namespace tkdc
