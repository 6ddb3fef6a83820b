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
        EXPECT_EQ(opening(rows, bare), rows.size());
        bare.epochs.clear();
        EXPECT_EQ(opening(rows, bare), 0u);
      }
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
