// SPDX-License-Identifier: Apache-2.0
// Store on LMDB. Six tables: committed, prepared, condemned, tombstones, seals (by
// key id) and meta (format, owner, key check, epochs). Only ciphertext reaches LMDB's
// map and pages.
//
// Threads: readers run in parallel on LMDB snapshots; writers one at a time,
// each transaction synced to disk before the call returns.
#pragma once

#include <functional>
#include <mutex>

#include "link/socket.h"
#include "service/store/lmdb.h"
#include "service/store/record_cache.h"
#include "service/store/sealed.h"
#include "service/store/store.h"

namespace tkdc {

class LmdbStore final : public Store {
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
  Result<std::vector<KeyId>> prepared() override { return ids_of(kPrepared); }
  Result<std::vector<KeyId>> condemned() override { return ids_of(kCondemned); }
  Result<bool> committed(const KeyId& id) override { return holds(kCommitted, id); }
  Result<bool> buried(const KeyId& id) override { return holds(kTombstones, id); }
  std::size_t count() override;
  Result<Digest> inventory() override;
  Result<std::uint64_t> seal_mark(const KeyId& id) override;
  Result<void> set_seal_mark(const KeyId& id, std::uint64_t mark) override;
  Result<Bytes> revoked() override;
  Result<void> set_revoked(ByteSpan state) override;
  Epochs epochs() override;
  Result<void> set_epochs(const Epochs& epochs) override;

 private:
  enum Table : int { kCommitted, kPrepared, kTombstones, kMeta, kCondemned, kSeals, kTables };

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
  MDB_dbi dbi_[kTables]{};
  std::mutex write_mutex_;
  std::mutex epochs_mutex_;
  Epochs epochs_;
};

}  // namespace tkdc
