// SPDX-License-Identifier: Apache-2.0
// Shares, MACs and MAC keys are under a key of their refresh epoch, which goes with the shares of
// before: what lies in free pages or in an old copy opens under no key that is left. A crash at
// each transaction leaves a store that opens; those inside the replacing of `keys` are
// epoch_keys_faults_test.cc's.
#include "epoch_keys.h"
#include "service/store/store_snapshot.h"

namespace tkdc {
namespace {

TEST_F(EpochKeys, WhatWasBeforeARefreshOpensUnderNoKeyThatIsLeft) {
  fill();
  store_.reset();
  fs::copy_file(file("data.mdb"), directory_ + "/data.before");
  fs::copy_file(file("keys"), directory_ + "/keys.before");
  const std::vector<RawValue> rows = raw_rows();
  const StoreKeys before = keys();
  ASSERT_EQ(rows.size(), 3u + 3 + 1 + 1);
  EXPECT_EQ(opening(rows, before), rows.size()) << "the control: those of then do";
  open();
  ASSERT_TRUE(refresh_to_commit(*store_, all(2)).ok());
  EXPECT_EQ(opening(rows, keys()), rows.size()) << "there is a way back still";
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  store_.reset();
  EXPECT_EQ(epochs(), 1u);
  EXPECT_EQ(opening(rows, keys()), 0u);
  const std::vector<RawValue> now = raw_rows();
  EXPECT_EQ(now.size(), 3u + 3 + 1);
  EXPECT_EQ(opening(now, keys()), now.size());
  EXPECT_EQ(opening(now, before), 0u);

  const Bytes disk = octets_of("data.mdb");
  EXPECT_GT(
      std::ranges::count_if(
          rows, [&](const auto& row) { return !std::ranges::search(disk, row.value).empty(); }),
      0)
      << "the control: they are in free pages";

  fs::copy_file(directory_ + "/data.before", file("data.mdb"),
                fs::copy_options::overwrite_existing);
  auto opened = Store::open(options_, key_);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("lacks the key"), std::string::npos)
      << opened.error().message;
  fs::copy_file(directory_ + "/keys.before", file("keys"), fs::copy_options::overwrite_existing);
  open();
  EXPECT_EQ(version(1), 1u) << "the control: with the keys of then";
}

TEST_F(EpochKeys, ARecoveryKeyOfBeforeARefreshOpensWhatIsAfterIt) {
  fill();
  store_.reset();
  const SecretBuffer recovery = draw_store_key();
  ASSERT_TRUE(Keyring(options_.path, owner()).add(key_, recovery).ok());
  open();
  ASSERT_TRUE(refresh_to_end(*store_, all(2)).ok());
  store_.reset();
  EXPECT_EQ(Keyring(options_.path, owner()).slots().value(), 2u);
  key_ = copy_of(recovery);
  open();
  EXPECT_EQ(version(1), 2u);
}

TEST_F(EpochKeys, ACrashAtEachWriteOfARefresh) {
  dies_at_each_write([&] { fill(); }, [&](Store& store) { return refresh_to_end(store, all(2)); },
                     8);
}

TEST_F(EpochKeys, ACrashAtEachWriteOfTheFirstRefreshAfterAnUpgrade) {
  dies_at_each_write([&] { fill_as_before(); },
                     [&](Store& store) { return refresh_to_end(store, all(2)); }, 8);
}

TEST_F(EpochKeys, ACrashAtEachWriteOfARefreshThatIsAbandoned) {
  dies_at_each_write([&] { fill_as_before(); },
                     [&](Store& store) {
                       Result<void> done = store.refresh()->begin();
                       if (done.ok()) done = store.refresh()->add(all(2));
                       if (done.ok()) done = store.refresh()->prepare_refresh(1);
                       return done.ok() ? store.refresh()->abandon_refresh() : done;
                     },
                     6);
}

TEST_F(EpochKeys, ACrashAtEachWriteOfAnUndoing) {
  dies_at_each_write(
      [&] {
        fill();
        ASSERT_TRUE(refresh_to_commit(*store_, all(2)).ok());
        ASSERT_TRUE(store_->macs()->set_keys(mac_keys_).ok());  // under the key that goes
      },
      [](Store& store) { return store.refresh()->undo_refresh(); }, 2);
}

TEST_F(EpochKeys, TheWayBackIsOpenUntilASessionHasBegun) {
  fill();
  const EpochKeyId before = keys().epochs.at(0).id;
  ASSERT_TRUE(refresh_to_commit(*store_, all(2)).ok());
  ASSERT_TRUE(store_->macs()->set_keys(mac_keys_).ok());
  open();
  EXPECT_EQ(epochs(), 2u);
  ASSERT_TRUE(store_->refresh()->undo_refresh().ok());
  ASSERT_EQ(epochs(), 1u);
  EXPECT_EQ(keys().epochs.at(0).id, before) << "the new one is gone";
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
  EXPECT_EQ(version(1), 1u);
}

// Shares of before may be there still, and MAC keys under their key.
TEST_F(EpochKeys, TheNextRefreshBeginsBeforeTheLastOneIsTidied) {
  fill();
  ASSERT_TRUE(refresh_to_commit(*store_, all(2)).ok());
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  ASSERT_TRUE(store_->refresh()->begin().ok());
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
  ASSERT_TRUE(refresh_to_end(*store_, all(3)).ok());
  EXPECT_EQ(epochs(), 1u);
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
  EXPECT_EQ(version(1), 3u);
}

// Whoever cannot write `keys` refreshes nothing, and says so where a key stays that should go.
TEST_F(EpochKeys, AFullDiskWhereTheKeysAre) {
  fill();
  fs::create_directory(file("keys.new"));
  auto begun = store_->refresh()->begin();
  ASSERT_FALSE(begun.ok());
  EXPECT_NE(begun.error().message.find("cannot write"), std::string::npos);
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
  fs::remove(file("keys.new"));
  ASSERT_TRUE(refresh_to_commit(*store_, all(2)).ok());
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  fs::create_directory(file("keys.new"));
  EXPECT_FALSE(store_->refresh()->tidy().ok());
  EXPECT_EQ(epochs(), 2u);
  EXPECT_FALSE(store_->refresh()->tidy().ok()) << "it is due still";
  open();  // which it does all the same
  EXPECT_EQ(version(1), 2u);
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  EXPECT_FALSE(store_->refresh()->tidy().ok());
  fs::remove(file("keys.new"));
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  EXPECT_EQ(epochs(), 1u);
}

TEST_F(EpochKeys, WhatNothingNamesGoesWhenASessionHasBegun) {
  fill();
  store_.reset();
  StoreKeys more = keys();
  const EpochKeyId is = more.epochs.at(0).id;
  more.epochs.push_back(draw_epoch_key());
  ASSERT_TRUE(Keyring(options_.path, owner()).write_epochs(more).ok());
  ASSERT_EQ(epochs(), 2u);
  open();
  EXPECT_EQ(epochs(), 2u) << "whoever opens it does not know that it is not needed";
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  EXPECT_EQ(epochs(), 2u);
  ASSERT_NO_FATAL_FAILURE(settles(true, true));
  ASSERT_EQ(epochs(), 1u);
  EXPECT_EQ(keys().epochs.at(0).id, is);
}

// Aside, lost, or that of another moment, while the keys of two epochs are kept.
TEST_F(EpochKeys, TheDatabaseBesideThemIsNotTheirs) {
  fill();
  store_.reset();
  fs::copy_file(file("data.mdb"), directory_ + "/data.before");
  open();
  ASSERT_TRUE(refresh_to_commit(*store_, all(2)).ok());
  store_.reset();
  const Bytes kept = octets_of("keys");
  fs::rename(file("data.mdb"), directory_ + "/data.now");
  auto opened = Store::open(options_, key_);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("put data.mdb back"), std::string::npos)
      << opened.error().message;
  EXPECT_EQ(octets_of("keys"), kept);
  fs::copy_file(directory_ + "/data.before", file("data.mdb"),
                fs::copy_options::overwrite_existing);
  open();
  EXPECT_EQ(version(1), 1u);
  store_.reset();
  EXPECT_EQ(octets_of("keys"), kept);
  fs::copy_file(directory_ + "/data.now", file("data.mdb"), fs::copy_options::overwrite_existing);
  open();
  EXPECT_EQ(version(1), 2u);
  ASSERT_NO_FATAL_FAILURE(settles(true, true));
}

// By it a release that knows no such keys refuses the store, and reads it again where none is left.
TEST_F(EpochKeys, HaveAFormatOfTheirOwn) {
  fill_as_before();
  EXPECT_EQ(store_format(), 2);
  const Bytes before = octets_of("keys");
  ASSERT_TRUE(store_->refresh()->begin().ok());
  ASSERT_GT(before.size(), 16u);
  EXPECT_EQ(before[16], '1') << "its first line's last octet";
  EXPECT_EQ(octets_of("keys").at(16), '2');
  EXPECT_EQ(store_format(), 10);
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  EXPECT_EQ(store_format(), 2);
  EXPECT_EQ(octets_of("keys"), before);
  ASSERT_TRUE(refresh_to_end(*store_, all(2)).ok());
  EXPECT_EQ(store_format(), 12);
}

TEST_F(EpochKeys, AStoreOfOneLevelIsRefreshedWithoutThem) {
  without_keyring();
  fill();
  ASSERT_TRUE(refresh_to_end(*store_, all(2)).ok());
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
  EXPECT_EQ(version(1), 2u);
  EXPECT_FALSE(fs::exists(file("keys")));
  EXPECT_EQ(store_format(), 3);
}

TEST_F(EpochKeys, ADraftThatACrashLeftIsWipedWhenTheStoreIsOpened) {
  fill();
  store_.reset();
  fs::copy_file(file("keys"), file("keys.new"));
  std::ifstream held(file("keys.new"), std::ios::binary);
  open();
  EXPECT_FALSE(fs::exists(file("keys.new")));
  const Bytes left{std::istreambuf_iterator<char>(held), std::istreambuf_iterator<char>()};
  EXPECT_EQ(left, Bytes(octets_of("keys").size()));
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
}

// Under another store's key: whatever is written beside its slots would never open.
TEST_F(EpochKeys, AFileThatWasReplacedUnderARunningStoreIsLeftAlone) {
  for (const bool as_before : {false, true}) {
    store_.reset();
    fs::remove_all(options_.path);
    as_before ? fill_as_before() : fill();
    const Bytes own = octets_of("keys");
    StoreKeys other{draw_store_key(), {}, {}};
    for (const bool epochs : {false, true}) {
      if (epochs) other.epochs.push_back(draw_epoch_key());
      ASSERT_TRUE(Keyring(options_.path, owner()).write(other, {&key_}).ok());
      const Bytes theirs = octets_of("keys");
      const auto begun = store_->refresh()->begin();
      ASSERT_FALSE(begun.ok());
      EXPECT_NE(begun.error().message.find("another one"), std::string::npos)
          << begun.error().message;
      EXPECT_EQ(octets_of("keys"), theirs);
    }
    std::ofstream(file("keys"), std::ios::binary)
        .write(reinterpret_cast<const char*>(own.data()), std::ssize(own));
    ASSERT_NO_FATAL_FAILURE(settles(true, false));
    ASSERT_TRUE(refresh_to_end(*store_, all(2)).ok());
    ASSERT_NO_FATAL_FAILURE(settles(true, false));
  }
}

// What only an attempt needs may be missing; MAC keys may be under it all the same.
TEST_F(EpochKeys, TheKeyOfAnAttemptIsMissing) {
  for (const bool second_pair : {false, true})
    for (const bool mac_keys : {false, true}) {
      store_.reset();
      fs::remove_all(options_.path);
      fill();
      std::uint32_t is = 1;
      if (second_pair) {
        ASSERT_TRUE(refresh_to_end(*store_, all(++is)).ok());
      }
      const EpochKeyId serving = keys().epochs.at(0).id;
      ASSERT_TRUE(store_->refresh()->begin().ok());
      ASSERT_TRUE(store_->refresh()->add(all(is + 1)).ok());
      store_.reset();
      StoreKeys both = keys(), less = keys();
      std::erase_if(less.epochs, [&](const EpochKey& one) { return one.id != serving; });
      ASSERT_EQ(both.epochs.size(), 2u);
      if (mac_keys) put_mac_keys_under(both, both.epochs.at(1).id, serving);
      ASSERT_TRUE(Keyring(options_.path, owner()).write_epochs(less).ok());
      EXPECT_TRUE(StoreSnapshot::take(options_, key_).ok()) << "it reads what serves";
      auto opened = Store::open(options_, key_);
      ASSERT_EQ(opened.ok(), !mac_keys);
      if (opened.ok()) opened->reset();
      if (mac_keys) {
        ASSERT_TRUE(Keyring(options_.path, owner()).write_epochs(both).ok());
      }
      ASSERT_NO_FATAL_FAILURE(settles(true, true));
      EXPECT_EQ(version(1), is);
      EXPECT_EQ(epochs(), 1u);
    }
}

}  // namespace
}  // namespace tkdc
