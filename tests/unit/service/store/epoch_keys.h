// SPDX-License-Identifier: Apache-2.0
// A store with keys of refresh epochs, its files as they lie on disk, and processes that die.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "altered_tables.h"
#include "refreshed_store.h"
#include "service/store/lmdb.h"
#include "service/store/record_codec.h"
#include "service/store/record_store.h"

namespace tkdc {

namespace fs = std::filesystem;

inline constexpr int kDied = 7, kEnded = 0;

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
    store_.reset();
    fs::create_directories(options_.path);
    ASSERT_TRUE(Keyring(options_.path, owner()).write({draw_store_key(), {}, {}}, {&key_}).ok());
    fill();
    ASSERT_EQ(epochs(), 0u);
  }
  Result<void> rekeyed(Store& store, const SecretBuffer& next) const {
    if (auto begun = store.begin_rekey(key_, next); !begun.ok()) return begun;
    for (RekeyAt at;;) {
      const auto some = store.rewrite(4, at);
      if (!some) return some.error();
      if (*some == 0) return store.end_rekey(next);
    }
  }
  void rekey() {
    open();
    SecretBuffer next = draw_store_key();
    const auto done = rekeyed(*store_, next);
    ASSERT_TRUE(done.ok()) << done.error().message;
    key_ = std::move(next);
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

  void put_mac_keys_under(const StoreKeys& keys, const EpochKeyId& id, const EpochKeyId& other) {
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
    ASSERT_TRUE(tables.ok());
    const RowCiphers rows(keys, id, other, owner());
    const ByteSpan name = tkdc::octets("mac keys");
    Txn txn(**tables, true);
    ASSERT_EQ(txn->put(Tables::kMeta, name, rows.serving().encrypt("meta", name, {}, mac_keys_)),
              0);
    ASSERT_EQ(txn->commit(), 0);
  }

  void put_under_stores_key(Tables::Table table, std::uint32_t number) {
    const StoreKeys of = keys();
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
    ASSERT_TRUE(tables.ok());
    Txn txn(**tables, true);
    const KeyRecord is = record(number);
    const Bytes value =
        store_cipher(of, owner())
            .encrypt(Tables::kNames[table], is.ref.id, record_header(is), encode_record(is));
    ASSERT_EQ(txn->put(table, is.ref.id, value), 0);
    ASSERT_EQ(txn->commit(), 0);
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
  void goes_on(bool commits) {
    ASSERT_NO_FATAL_FAILURE(settles(commits, false));
    ASSERT_NO_FATAL_FAILURE(settles(commits, true));
    EXPECT_LE(epochs(), 1u) << "no session needs another";
    const std::uint32_t is = version(1);
    auto done = refresh_to_end(*store_, all(is + 1));
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(epochs(), 1u);
    EXPECT_FALSE(keys().bare_rows);
    ASSERT_NO_FATAL_FAILURE(settles(commits, false));
    EXPECT_EQ(version(1), is + 1);
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
          ASSERT_NO_FATAL_FAILURE(goes_on(commits));
        }
  }
};

}  // namespace tkdc
