// SPDX-License-Identifier: Apache-2.0
#include "service/store/store_snapshot.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hex.h"
#include "service/store/inventory_hash.h"
#include "service/store/kept_values.h"
#include "service/store/keyring.h"
#include "service/store/lmdb.h"
#include "service/store/lmdb_tables.h"
#include "service/store/meta_values.h"
#include "service/store/record_codec.h"
#include "service/store/row_ciphers.h"

namespace tkdc {
namespace {

using Table = Tables::Table;

struct Environment {
  MDB_env* env = nullptr;
  ~Environment() {
    if (env != nullptr) mdb_env_close(env);
  }
};

class LmdbSnapshot final : public StoreSnapshot {
 public:
  explicit LmdbSnapshot(const StoreOptions& options) : options_(options) {}

  Result<void> open(const SecretBuffer& wrapping);
  const StoreMoment& moment() const override { return moment_; }
  std::uint64_t values() const override;
  Result<void> each(const SeeValue& see) override;

 private:
  using Visit = std::function<Result<void>(ByteSpan name, ByteSpan value)>;
  using Kinds = std::array<std::pair<Table, ValueKind>, 9>;

  Kinds kinds() const;
  int open_environment();
  Result<void> open_keys(const SecretBuffer& wrapping);
  Result<void> read_moment();
  Result<void> take_inventory();
  Result<void> visit(Table table, const Visit& see);
  Result<void> see_table(Table table, ValueKind kind, const SeeValue& see);
  // None where there is no such value.
  Result<std::optional<SecretVector>> meta_value(ByteSpan name);
  bool find(ByteSpan name, ByteSpan& value);
  bool decrypt(Table table, ByteSpan name, ByteSpan value, SecretVector& plain);
  Error failed(int rc) const { return fail(tables_failed("reading", options_.path, rc)); }
  Error damaged(const std::string& what) const {
    return fail("store: " + what + " in " + options_.path +
                " does not decrypt: the store is damaged, or its keys are being changed (`tkdc "
                "store rekey`, or the end of a refresh): run this again after it");
  }

  StoreOptions options_;
  Environment at_;
  std::unique_ptr<LmdbTxn> txn_;
  std::optional<MDB_dbi> dbi_[Tables::kTables];
  std::optional<StoreKeys> keys_;
  std::optional<StoreCipher> cipher_;
  std::optional<RowCiphers> rows_;
  ManyValues many_;
  bool second_pair_ = false;
  StoreMoment moment_;
};

// Tables that a store of an older release lacks are empty.
int LmdbSnapshot::open_environment() {
  int rc = mdb_env_create(&at_.env);
  if (rc == 0) rc = mdb_env_set_maxdbs(at_.env, Tables::kTables);
  if (rc == 0) rc = mdb_env_set_maxreaders(at_.env, 512);
  if (rc == 0) rc = mdb_env_set_mapsize(at_.env, options_.map_bytes / 4096 * 4096);
  if (rc == 0)
    rc = mdb_env_open(at_.env, options_.path.c_str(), MDB_RDONLY | MDB_NOTLS | MDB_NORDAHEAD, 0600);
  // Readers that were killed would keep pages from being used again.
  int dead = 0;
  if (rc == 0) rc = mdb_reader_check(at_.env, &dead);
  if (rc != 0) return rc;
  txn_ = std::make_unique<LmdbTxn>(at_.env, MDB_RDONLY);
  rc = txn_->begun();
  for (int table = 0; rc == 0 && table < Tables::kTables; ++table) {
    MDB_dbi dbi = 0;
    rc = mdb_dbi_open(txn_->get(), Tables::kFileNames[table], 0, &dbi);
    if (rc == 0) dbi_[table] = dbi;
    if (rc == MDB_NOTFOUND) rc = 0;
  }
  return rc;
}

Result<void> LmdbSnapshot::open(const SecretBuffer& wrapping) {
  if (wrapping.size() != kStoreKeyBytes)
    return fail("store: the store key must have 32 octets; compare [store] key_file");
  if (int rc = open_environment(); rc != 0) return failed(rc);
  if (auto keys = open_keys(wrapping); !keys.ok()) return keys;
  if (auto read = read_moment(); !read.ok()) return read;
  return take_inventory();
}

// After the transaction has begun: what its values are under, they are still under.
Result<void> LmdbSnapshot::open_keys(const SecretBuffer& wrapping) {
  ByteSpan value;
  if (!find(meta::kOwner, value))
    return fail("store: there is no store in " + options_.path + ", or it is damaged");
  auto owner = read_owner(value, options_);
  if (!owner.ok()) return owner.error();
  const Keyring ring(options_.path, {options_.installation, options_.party});
  keys_.emplace(StoreKeys{copy_of(wrapping), std::nullopt, {}});
  auto exists = ring.exists();
  if (!exists.ok()) return exists.error();
  if (owner->two_levels || *exists) {
    auto read = ring.read(wrapping);
    if (!read.ok()) return read.error();
    keys_ = std::move(*read);
  }
  cipher_.emplace(store_cipher(*keys_, {options_.installation, options_.party}));
  auto check = meta_value(meta::kKeyCheck);
  if (!check.ok() || !*check)
    return fail("store: the key does not open " + options_.path +
                "; [store] key_file is another server's or was replaced");
  return {};
}

Result<void> LmdbSnapshot::read_moment() {
  auto epochs = meta_value(meta::kEpochs);
  if (!epochs.ok()) return epochs.error();
  if (!*epochs || !decode_epochs(**epochs, moment_.epochs)) return damaged("the nonce epochs");
  auto refreshed = meta_value(meta::kRefresh);
  if (!refreshed.ok()) return refreshed.error();
  StoredRefresh refresh;
  if (*refreshed && !decode_refresh(**refreshed, refresh)) return damaged("the refresh epoch");
  if (!has_epoch_key(*keys_, refresh.key))
    return fail("store: " + options_.path +
                "/keys lacks the key that shares are under: they were refreshed meanwhile, or keys "
                "is not of the same moment as data.mdb. Run this again");
  if (refresh.other != StoredRefresh::Other::kNothing)
    return fail("store: " + options_.path +
                " was refreshed, and no session has begun with the new shares: run this again when "
                "`tkdc status` shows a session");
  second_pair_ = refresh.second_pair;
  // As the store itself: nothing but its own key opens what serves where no other is named.
  const EpochKeyId& other = refresh.other_key == EpochKeyId{} ? refresh.key : refresh.other_key;
  rows_.emplace(*keys_, refresh.key, other, StoreOwner{options_.installation, options_.party});
  moment_.refresh_epoch = refresh.is.epoch;
  auto base = meta_value(meta::kGeneration);
  if (!base.ok()) return base.error();
  if (*base && (*base)->size() != 8) return damaged("the generation");
  moment_.generation = mdb_txn_id(txn_->get()) + (*base ? Reader(**base).u64() : 0);
  return {};
}

Result<void> LmdbSnapshot::take_inventory() {
  InventoryHash inventory;
  for (Table table : {second_pair_ ? Tables::kNext : Tables::kCommitted, Tables::kTombstones}) {
    inventory.begin_table(Tables::kNames[table]);
    auto seen = visit(table, [&](ByteSpan name, ByteSpan value) -> Result<void> {
      ByteSpan header;
      if (!StoreCipher::header(value, kRecordHeaderBytes, header)) return damaged("a record");
      inventory.add(name, header);
      if (table != Tables::kTombstones) ++moment_.records;
      return {};
    });
    if (!seen.ok()) return seen;
  }
  bool begun = false;
  auto seen = visit(Tables::kDropped, [&](ByteSpan name, ByteSpan value) -> Result<void> {
    ByteSpan header;
    if (!StoreCipher::header(value, kDroppedHeaderBytes, header)) return damaged("a dropped key");
    if (!std::exchange(begun, true)) inventory.begin_table(Tables::kNames[Tables::kDropped]);
    inventory.add(name, header);
    return {};
  });
  if (!seen.ok()) return seen;
  moment_.inventory = inventory.finish(moment_.refresh_epoch);
  return {};
}

bool LmdbSnapshot::find(ByteSpan name, ByteSpan& value) {
  MDB_val k = lmdb_val(name), v{};
  if (!dbi_[Tables::kMeta] || mdb_get(txn_->get(), *dbi_[Tables::kMeta], &k, &v) != 0) return false;
  value = lmdb_span(v);
  return true;
}

Result<std::optional<SecretVector>> LmdbSnapshot::meta_value(ByteSpan name) {
  ByteSpan value;
  if (!find(name, value)) return std::optional<SecretVector>();
  SecretVector plain;
  if (!cipher_->decrypt(Tables::kNames[Tables::kMeta], name, value, plain))
    return damaged("\"" + std::string(name.begin(), name.end()) + "\"");
  return std::optional<SecretVector>(std::move(plain));
}

Result<void> LmdbSnapshot::visit(Table table, const Visit& see) {
  if (!dbi_[table]) return {};
  MDB_cursor* opened = nullptr;
  if (int rc = mdb_cursor_open(txn_->get(), *dbi_[table], &opened); rc != 0) return failed(rc);
  const std::unique_ptr<MDB_cursor, void (*)(MDB_cursor*)> cursor(opened, mdb_cursor_close);
  MDB_val k, v;
  int rc = 0;
  while ((rc = mdb_cursor_get(cursor.get(), &k, &v, MDB_NEXT)) == 0)
    if (auto seen = see(lmdb_span(k), lmdb_span(v)); !seen.ok()) return seen;
  if (rc != MDB_NOTFOUND) return failed(rc);
  return {};
}

// Of the pair that serves, as the ciphers are.
bool LmdbSnapshot::decrypt(Table table, ByteSpan name, ByteSpan value, SecretVector& plain) {
  const bool of_pair = table == Tables::kNext || table == Tables::kNextMacs;
  const StoreCipher* of_row = of_pair ? &rows_->serving() : rows_->of(table, name);
  return (of_row != nullptr ? *of_row : *cipher_)
      .decrypt(Tables::kNames[table], name, value, plain, StoreCipher::Under::kAny, &many_);
}

Result<void> LmdbSnapshot::see_table(Table table, ValueKind kind, const SeeValue& see) {
  SecretVector plain;
  return visit(table, [&](ByteSpan name, ByteSpan value) -> Result<void> {
    for (ByteSpan own : {meta::kOwner, meta::kKeyCheck, meta::kGeneration, meta::kAuditHead})
      if (table == Tables::kMeta && std::ranges::equal(name, own)) return {};
    if (const std::string_view named(reinterpret_cast<const char*>(name.data()), name.size());
        table == Tables::kValues && !kept::is_kept(named)) {
      if (kept::is_left_out(named)) return {};
      return fail("store: this release knows no value \"" + std::string(named) +
                  "\", so it makes no backup that would lack it");
    }
    if (!decrypt(table, name, value, plain))
      return damaged("\"" + std::string(Tables::kNames[table]) + "\" " + to_hex(name));
    if (table == Tables::kMeta && std::ranges::equal(name, meta::kRefresh)) {
      StoredRefresh refresh;
      if (!decode_refresh(plain, refresh)) return damaged("the refresh epoch");
      if (refresh.is.epoch == 0) return {};  // it says keys of this store alone
      const Bytes bare = encode_refresh({refresh.is});
      return see({kind, name, value.subspan(1, value[0]), bare});
    }
    return see({kind, name, value.subspan(1, value[0]), plain});
  });
}

LmdbSnapshot::Kinds LmdbSnapshot::kinds() const {
  return {{{Tables::kMeta, ValueKind::kMeta},
           {second_pair_ ? Tables::kNext : Tables::kCommitted, ValueKind::kRecord},
           {Tables::kPrepared, ValueKind::kPrepared},
           {Tables::kTombstones, ValueKind::kTombstone},
           {Tables::kCondemned, ValueKind::kCondemned},
           {Tables::kSeals, ValueKind::kSeals},
           {second_pair_ ? Tables::kNextMacs : Tables::kMacs, ValueKind::kMacs},
           {Tables::kDropped, ValueKind::kDropped},
           {Tables::kValues, ValueKind::kKept}}};
}

std::uint64_t LmdbSnapshot::values() const {
  std::uint64_t count = 0;
  MDB_stat stat{};
  for (const auto& [table, kind] : kinds())
    if (dbi_[table] && mdb_stat(txn_->get(), *dbi_[table], &stat) == 0) count += stat.ms_entries;
  return count;
}

Result<void> LmdbSnapshot::each(const SeeValue& see) {
  for (const auto& [table, kind] : kinds())
    if (auto seen = see_table(table, kind, see); !seen.ok()) return seen;
  return {};
}

}  // namespace

Result<std::unique_ptr<StoreSnapshot>> StoreSnapshot::take(const StoreOptions& options,
                                                           const SecretBuffer& wrapping) {
  auto snapshot = std::make_unique<LmdbSnapshot>(options);
  if (auto opened = snapshot->open(wrapping); !opened.ok()) return opened.error();
  return std::unique_ptr<StoreSnapshot>(std::move(snapshot));
}

}  // namespace tkdc
