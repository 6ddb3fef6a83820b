// SPDX-License-Identifier: Apache-2.0
// Store on LMDB. Tables by key id: committed and macs, another pair of the two for a refresh,
// prepared, condemned, tombstones, seals; and meta (format, owner, key check, epochs, MAC keys,
// refresh). Only ciphertext reaches LMDB's
// map and pages.
//
// Threads: readers run in parallel on LMDB snapshots; writers one at a time,
// each transaction synced to disk before the call returns.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "link/socket.h"
#include "service/store/lmdb.h"
#include "service/store/mac_table.h"
#include "service/store/record_cache.h"
#include "service/store/refresh_table.h"
#include "service/store/sealed.h"
#include "service/store/store.h"

namespace tkdc {

class LmdbStore final : public Store, private MacTable, private RefreshTable {
 public:
  LmdbStore(const StoreOptions& options, const SecretBuffer& key);
  ~LmdbStore() override;
  Result<void> open_files();

  Result<void> prepare(const KeyRecord& record) override;
  Result<void> commit(const KeyId& id) override;
  Result<void> abandon(const KeyId& id) override;
  Result<void> condemn(const KeyId& id) override;
  Result<void> pardon(const KeyId& id) override;
  Result<void> destroy(const KeyId& id) override;
  Result<std::shared_ptr<const KeyRecord>> get(const KeyId& id) override;
  Result<std::vector<KeyId>> prepared() override;
  Result<std::vector<KeyId>> condemned() override { return ids_of(kCondemned); }
  Result<bool> committed(const KeyId& id) override;
  Result<bool> buried(const KeyId& id) override { return holds(kTombstones, id); }
  std::size_t count() override;
  MacTable* macs() override { return this; }
  RefreshTable* refresh() override { return this; }
  Result<Digest> inventory() override;
  Result<std::uint64_t> seal_mark(const KeyId& id) override;
  Result<void> set_seal_mark(const KeyId& id, std::uint64_t mark) override;
  Result<Bytes> revoked() override;
  Result<void> set_revoked(ByteSpan state) override;
  Epochs epochs() override;
  Result<void> set_epochs(const Epochs& epochs) override;

 private:
  enum Table : int {
    kCommitted,
    kPrepared,
    kTombstones,
    kMeta,
    kCondemned,
    kSeals,
    kMacs,
    kNext,
    kNextMacs,
    kTables
  };
  // As they are authenticated in what they hold; the second pair is as the first.
  static constexpr std::string_view kTableNames[kTables] = {"committed", "prepared",  "tombstones",
                                                            "meta",      "condemned", "seals",
                                                            "macs",      "committed", "macs"};

  Result<std::vector<StoredKey>> page(const std::optional<KeyId>& after, std::size_t most) override;
  Result<void> put(std::span<const NamedMacs> rows) override;
  std::size_t rows() override;
  Result<SecretVector> keys() override;
  Result<void> set_keys(ByteSpan keys) override;
  std::uint32_t refresh_epoch() override;
  RefreshState state() override;
  Result<void> begin() override;
  Result<void> add(std::span<const RefreshedKey> keys) override;
  Result<void> prepare_refresh(std::uint64_t at_s) override;
  Result<void> commit_refresh() override;
  Result<void> abandon_refresh() override;
  EntryId entry() override;
  void switch_over() override;

  static EntryId entry_of(std::uint32_t epoch);
  static std::optional<std::uint32_t> refresh_of(const EntryId& id);
  Bytes encode_refresh() const;
  Result<void> load_refresh(LmdbTxn& txn);
  void swap_pairs();
  int put_refresh(LmdbTxn& txn);
  int empty_next(LmdbTxn& txn);
  Result<void> commit_to(std::uint32_t epoch);
  Result<void> abandon_to(std::uint32_t epoch);
  Result<void> clear_next_unless_prepared();
  int put_macs(LmdbTxn& txn, const KeyId& id, const MacRow& row);
  Result<StoredKey> read_with_macs(LmdbTxn& txn, const KeyId& id, ByteSpan value);

  Result<void> lock_directory();
  Result<void> open_environment();
  Result<void> check_owner();
  Result<void> write_owner(LmdbTxn& txn);
  Result<void> load_epochs(LmdbTxn& txn);
  Error failed(const std::string& step, int rc) const;
  Error corrupt(Table table, const KeyId& id) const;

  int put(LmdbTxn& txn, Table table, ByteSpan name, ByteSpan value);
  int find(LmdbTxn& txn, Table table, ByteSpan name, MDB_val* value);
  int erase(LmdbTxn& txn, Table table, ByteSpan name);
  // One transaction, under write_mutex_. `change` returns LMDB's code.
  Result<void> write(const char* step, const std::function<int(LmdbTxn&)>& change);
  // One transaction that moves a key from one table to another.
  Result<void> move_key(const char* step, const KeyId& id,
                        Result<void> (LmdbStore::*move)(LmdbTxn&, const KeyId&));
  int check_room(std::size_t value_bytes);
  Result<std::vector<KeyId>> ids_of(Table table);
  Result<bool> holds(Table table, const KeyId& id);
  Result<void> move_to_committed(LmdbTxn& txn, const KeyId& id);
  Result<void> bury(LmdbTxn& txn, const KeyId& id);
  Result<void> hash_table(LmdbTxn& txn, Table table, crypto_generichash_state* state);
  bool decode(Table table, const KeyId& id, ByteSpan value, KeyRecord& record) const;

  StoreOptions options_;
  Sealer sealer_;
  RecordCache cache_;
  UniqueFd directory_lock_;
  MDB_env* env_ = nullptr;
  std::atomic<MDB_dbi> dbi_[kTables]{};  // switch_over() swaps two pairs of them
  std::mutex write_mutex_;
  std::mutex epochs_mutex_;
  Epochs epochs_;
  // Under write_mutex_ once the store is open.
  RefreshState refresh_;
  bool second_pair_ = false, refresh_prepared_ = false, switch_due_ = false;
  std::uint64_t refresh_prepared_at_s_ = 0;
};

// What of a record stands in the clear, for the inventory: kvno, enctype, version.
inline constexpr std::size_t kRecordHeaderBytes = 12;
Bytes record_header(const KeyRecord& record);

}  // namespace tkdc
