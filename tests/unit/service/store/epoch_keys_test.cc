// SPDX-License-Identifier: Apache-2.0
// Shares, MACs and MAC keys are under a key of their refresh epoch, which goes with the shares of
// before: what lies in free pages or in an old copy opens under no key that is left. A crash at
// each write, of `keys` or of the database, leaves a store that opens.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "altered_tables.h"
#include "refreshed_store.h"
#include "service/store/lmdb.h"
#include "service/store/record_store.h"

namespace tkdc {
namespace {

namespace fs = std::filesystem;

constexpr int kDied = 7, kEnded = 0;

struct RawValue {
  Tables::Table table;
  Bytes name, value;
};

class EpochKeys : public Refresh {
 protected:
  StoreOwner owner() const { return {options_.installation, options_.party}; }
  std::string file(const std::string& name) const { return options_.path + "/" + name; }
  StoreKeys keys() const {
    auto read = Keyring(options_.path, owner()).read(key_);
    EXPECT_TRUE(read.ok()) << read.error().message;
    return std::move(*read);
  }
  std::size_t epochs() const { return keys().epochs.size(); }
  Bytes octets_of(const std::string& name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  const Bytes mac_keys_{1, 2, 3};

  // Three keys with their MACs, and one that is prepared.
  void fill() {
    open();
    for (std::uint32_t n = 1; n <= 3; ++n) {
      add(n);
      const NamedMacs row{id_of(n), refreshed(n, 1).macs};
      ASSERT_TRUE(store_->macs()->put(std::span(&row, 1)).ok());
    }
    ASSERT_TRUE(store_->prepare(record(9)).ok());
    ASSERT_TRUE(store_->macs()->set_keys(mac_keys_).ok());
  }
  // A store of two levels that has no keys of epochs, as releases before them made.
  void fill_as_before() {
    without_keyring();
    open();
    SecretBuffer next = draw_store_key();
    ASSERT_TRUE(store_->begin_rekey(key_, next).ok());
    RekeyAt at;
    while (store_->rewrite(100, at).value() > 0) continue;
    ASSERT_TRUE(store_->end_rekey(next).ok());
    key_ = std::move(next);
    fill();
    ASSERT_EQ(epochs(), 0u);
  }
  static Result<void> refresh_to_commit(Store& store, const std::vector<RefreshedKey>& all) {
    RefreshTable& table = *store.refresh();
    Result<void> done = table.begin();
    if (done.ok()) done = table.add(all);
    if (done.ok()) done = table.prepare_refresh(1);
    if (done.ok()) done = table.commit_refresh();
    if (done.ok()) table.switch_over();
    return done;
  }
  static Result<void> refresh_to_end(Store& store, const std::vector<RefreshedKey>& all) {
    Result<void> done = refresh_to_commit(store, all);
    if (done.ok()) done = store.refresh()->begun_with();
    return done.ok() ? store.refresh()->tidy() : done;
  }
  std::vector<RefreshedKey> all(std::uint32_t version) const {
    std::vector<RefreshedKey> out;
    for (std::uint32_t n = 1; n <= 3; ++n) out.push_back(refreshed(n, version));
    return out;
  }

  // Of the database in options_.path, which nobody has open: all that a refresh replaces.
  std::vector<RawValue> raw_rows() {
    std::vector<RawValue> out;
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
    EXPECT_TRUE(tables.ok());
    Txn txn(**tables, false);
    for (int k = 0; k < Tables::kTables; ++k) {
      const auto table = static_cast<Tables::Table>(k);
      EXPECT_EQ(txn->each(table,
                          [&](ByteSpan name, ByteSpan value) {
                            if (is_row(table, name))
                              out.push_back({table, Bytes(name.begin(), name.end()),
                                             Bytes(value.begin(), value.end())});
                            return true;
                          }),
                0);
    }
    return out;
  }
  static bool is_row(Tables::Table table, ByteSpan name) {
    using enum Tables::Table;
    return table == kCommitted || table == kNext || table == kMacs || table == kNextMacs ||
           table == kPrepared ||
           (table == kMeta && std::ranges::equal(name, tkdc::octets("mac keys")));
  }
  // Under anything that these keys make.
  std::size_t opening(const std::vector<RawValue>& rows, const StoreKeys& keys) {
    std::vector<StoreCipher> ciphers;
    ciphers.push_back(store_cipher(keys, owner()));
    for (const EpochKey& one : keys.epochs)
      ciphers.emplace_back(row_key(keys.current, one), options_.installation, options_.party);
    return static_cast<std::size_t>(std::ranges::count_if(rows, [&](const RawValue& row) {
      return std::ranges::any_of(ciphers, [&](const StoreCipher& cipher) {
        SecretVector plain;
        return cipher.decrypt(Tables::kNames[row.table], row.name, row.value, plain);
      });
    }));
  }

  // The steps in a process of its own, which dies at the number-th transaction.
  int run_until(int number, bool behind, const std::function<Result<void>(Store&)>& steps) {
    store_.reset();
    const pid_t child = fork();
    if (child == 0) {
      Alterations altered;
      int seen = 0;
      const auto die = [&] {
        if (++seen == number) _exit(kDied);
      };
      (behind ? altered.written : altered.writing) = die;
      auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
      if (!tables.ok()) _exit(2);
      RecordStore store(options_, key_,
                        std::make_unique<AlteredTables>(std::move(*tables), altered),
                        Keyring(options_.path, owner()));
      if (!store.check_owner().ok()) _exit(3);
      _exit(steps(store).ok() ? kEnded : 4);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // As the handshake settles it. All is of one epoch then, and no key is left over.
  void settles(bool commits, bool session_begins) {
    ASSERT_NO_FATAL_FAILURE(open());
    const EntryId entry = store_->refresh()->entry();
    if (std::ranges::count(store_->prepared().value(), entry) > 0) {
      const auto settled = commits ? store_->commit(entry) : store_->abandon(entry);
      ASSERT_TRUE(settled.ok()) << settled.error().message;
    }
    if (session_begins) {
      ASSERT_TRUE(store_->refresh()->begun_with().ok());
      ASSERT_TRUE(store_->refresh()->tidy().ok());
    }
    const std::uint32_t is = version(1);
    for (std::uint32_t n = 2; n <= 3; ++n) EXPECT_EQ(version(n), is);
    const auto mac_keys = store_->macs()->keys();
    ASSERT_TRUE(mac_keys.ok()) << mac_keys.error().message;
    EXPECT_TRUE(std::ranges::equal(*mac_keys, mac_keys_));
    auto page = store_->macs()->page(std::nullopt, 10);
    ASSERT_TRUE(page.ok()) << page.error().message;
    for (const StoredKey& one : *page) {
      ASSERT_TRUE(one.macs);
      EXPECT_EQ(one.macs->version, is);
    }
  }
  // What `prepare` made is there each time; the steps die at each of their writes in turn.
  void dies_at_each_write(const std::function<void()>& prepare,
                          const std::function<Result<void>(Store&)>& steps, int at_least) {
    for (const bool behind : {false, true})
      for (const bool commits : {false, true})
        for (int number = 1;; ++number) {
          SCOPED_TRACE(std::to_string(number) + (behind ? " behind" : " before") +
                       (commits ? " committed" : " abandoned"));
          store_.reset();
          fs::remove_all(options_.path);
          ASSERT_NO_FATAL_FAILURE(prepare());
          const int ended = run_until(number, behind, steps);
          ASSERT_TRUE(ended == kDied || ended == kEnded) << ended;
          if (ended == kEnded) {
            EXPECT_GE(number, at_least);
            break;
          }
          ASSERT_NO_FATAL_FAILURE(settles(commits, false));
          ASSERT_NO_FATAL_FAILURE(settles(commits, true));
          EXPECT_LE(epochs(), 1u) << "no session needs another";
          const std::uint32_t is = version(1);
          auto done = refresh_to_end(*store_, all(is + 1));
          ASSERT_TRUE(done.ok()) << done.error().message;
          EXPECT_EQ(epochs(), 1u);
          ASSERT_NO_FATAL_FAILURE(settles(commits, false));
          EXPECT_EQ(version(1), is + 1);
        }
  }
};

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

TEST_F(EpochKeys, WhatNothingNamesGoesWhenTheStoreIsOpened) {
  fill();
  store_.reset();
  StoreKeys more = keys();
  const EpochKeyId is = more.epochs.at(0).id;
  more.epochs.push_back(draw_epoch_key());
  ASSERT_TRUE(Keyring(options_.path, owner()).write_epochs(more).ok());
  ASSERT_EQ(epochs(), 2u);
  open();
  ASSERT_EQ(epochs(), 1u);
  EXPECT_EQ(keys().epochs.at(0).id, is);
  ASSERT_NO_FATAL_FAILURE(settles(true, false));
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

}  // namespace
}  // namespace tkdc
