// SPDX-License-Identifier: Apache-2.0
// A store on tables. Of them, seals and macs go by key id, records and MACs have a second pair for
// a refresh, values go by names of their owners', and meta has format, owner, key check, epochs,
// MAC keys and refresh. Only ciphertext reaches them.
//
// Threads: readers run in parallel on snapshots; writers one at a time,
// each transaction synced to disk before the call returns.
#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "service/store/dropped_table.h"
#include "service/store/inventory_hash.h"
#include "service/store/keyring.h"
#include "service/store/mac_table.h"
#include "service/store/meta_values.h"
#include "service/store/move_table.h"
#include "service/store/paired_tables.h"
#include "service/store/record_cache.h"
#include "service/store/refresh_table.h"
#include "service/store/repair_table.h"
#include "service/store/row_ciphers.h"
#include "service/store/store.h"
#include "service/store/store_cipher.h"
#include "service/store/value_table.h"

namespace tkdc {

class RecordStore final : public Store,
                          private MacTable,
                          private RefreshTable,
                          private RepairTable,
                          private MoveTable,
                          private DroppedTable,
                          private ValueTable {
 public:
  // Without a keyring `key` is the store's own.
  RecordStore(const StoreOptions& options, const SecretBuffer& key, std::unique_ptr<Tables> tables,
              std::optional<Keyring> keyring);
  Result<void> check_owner();

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
  Result<bool> buried(const KeyId& id) override;
  std::size_t count() override;
  Result<std::vector<KeyId>> ids_behind(const KeyId& after, std::size_t most) override;
  MacTable* macs() override { return this; }
  RefreshTable* refresh() override { return this; }
  RepairTable* repair() override { return this; }
  ValueTable* values() override { return this; }
  MoveTable* moves() override { return this; }
  DroppedTable* dropped() override { return this; }
  Result<Digest> inventory() override;
  Result<std::uint64_t> seal_mark(const KeyId& id) override;
  Result<void> set_seal_mark(const KeyId& id, std::uint64_t mark) override;
  Result<Bytes> revoked() override;
  Result<void> set_revoked(ByteSpan state) override;
  Result<Bytes> audit_head() override;
  Result<void> set_audit_head(ByteSpan head) override;
  Epochs epochs() override;
  Result<void> set_epochs(const Epochs& epochs) override;
  Result<void> begin_rekey(const SecretBuffer& wrapping, const SecretBuffer& next) override;
  Result<std::size_t> rewrite(std::size_t most, RekeyAt& at) override;
  Result<void> end_rekey(const SecretBuffer& next) override;
  bool two_levels() const override { return two_levels_; }
  bool rekey_is_under_way() const override { return keys_.previous.has_value(); }
  Result<std::size_t> values_to_rewrite() override;
  // store_list.h.
  Result<void> keep_common(std::span<const Tombstone> gone, std::span<const DroppedKey> dropped);

 private:
  using Table = Tables::Table;
  using enum Tables::Table;

  Result<void> load();
  Result<bool> has_keys() const;
  Result<void> read_keys();
  void use_keys();

  std::shared_ptr<const RowCiphers> row_ciphers() const;
  // A transaction that began before a key of a refresh epoch went may see values under it. So what
  // is not `whole` is read anew where the keys have changed meanwhile.
  template <class Read, class Whole>
  auto read_again(Read read, Whole whole) const {
    for (;;) {
      const auto before = row_ciphers();
      auto out = read();
      if (whole(out) || row_ciphers() == before) return out;
    }
  }
  Result<std::shared_ptr<const KeyRecord>> read_key(const KeyId& id);
  Result<std::shared_ptr<const KeyRecord>> read_dropped(const KeyId& id);
  Result<std::vector<StoredKey>> read_page(const std::optional<KeyId>& after, std::size_t most);
  Result<SecretVector> read_mac_keys();
  // Under write_mutex_, as all of these, once the store is open.
  void use_epoch_keys();
  Error lacks_epoch_key() const;
  Result<void> check_epoch_keys() const;
  Result<void> give_up_unreadable();
  StoreKeys needed_keys() const;
  Result<void> write_epoch_keys(StoreKeys keys);
  Result<void> drop_epoch_keys();
  int keep_mac_keys(Txn& txn, const StoreCipher& cipher);
  Result<void> name_epoch_keys(const SecretBuffer& wrapping, const SecretBuffer& next);
  Bytes owner_record(bool refreshed, bool dropped) const;
  Result<std::size_t> rewrite_table(Txn& txn, std::size_t most, RekeyAt& at);
  Result<void> rewrite_value(Txn& txn, Table table, const Bytes& name, ByteSpan value);
  Result<void> write_new_store(Txn& txn);

  Result<std::vector<StoredKey>> page(const std::optional<KeyId>& after, std::size_t most) override;
  Result<void> put(std::span<const NamedMacs> rows) override;
  std::size_t rows() override;
  std::uint32_t refresh_epoch() override;
  Result<SecretVector> keys() override;
  Result<void> set_keys(ByteSpan keys) override;
  int put_macs(Txn& txn, const KeyId& id, const MacRow& row);
  // What is used again from one record to the next.
  struct PageReader {
    SecretVector plaintext;
    ManyValues values;
  };
  Result<StoredKey> read_with_macs(Txn& txn, const KeyId& id, ByteSpan value, PageReader& reader);

  using Refresh = StoredRefresh;
  using Other = StoredRefresh::Other;
  RefreshState state() override;
  Result<void> begin() override;
  Result<void> add(std::span<const RefreshedKey> keys) override;
  Result<void> prepare_refresh(std::uint64_t at_s) override;
  Result<void> commit_refresh() override;
  Result<void> abandon_refresh() override;
  void give_up() override;
  EntryId entry() override;
  void switch_over() override;
  Result<void> begun_with() override;
  Result<void> tidy() override;
  Result<void> undo_refresh() override;
  static std::optional<std::uint32_t> refresh_of(const EntryId& id);
  std::optional<EntryId> prepared_refresh();
  bool has_refreshed(std::uint32_t epoch);
  Result<void> load_refresh(Txn& txn);
  void serve_refreshed();
  Result<void> writes_last() const;
  int put_refresh(Txn& txn, const Refresh& refresh);
  int empty_next(Txn& txn);
  Result<void> begin_next(const char* step, Refresh next, const std::function<int(Txn&)>& empty);
  int empty_after_undo(Txn& txn);
  Result<void> change_refresh(const char* step, Refresh next,
                              const std::function<int(Txn&)>& also = nullptr);
  Result<void> prepare_next(const char* step, std::uint64_t at_s, std::uint64_t keys);
  Result<void> commit_to(std::uint32_t epoch);
  Result<void> abandon_to(std::uint32_t epoch);

  Result<std::optional<SecretVector>> get(std::string_view name) override;
  Result<void> room_for(std::size_t bytes) override;
  Result<void> put(std::span<const NamedValue> values) override;
  Result<void> erase(std::span<const std::string> names) override;
  Result<std::vector<std::string>> names(std::string_view prefix) override;
  int put_values(Txn& txn, std::span<const NamedValue> values);
  Result<void> room_for(std::span<const NamedValue> values);
  Error corrupt_value(ByteSpan name) const;

  struct MoveState {
    std::uint32_t last = 0, prepared = 0;
  };
  Result<std::uint32_t> last_move() override;
  Result<void> prepare_move(std::uint32_t number, std::span<const KeyRecord> records) override;
  Result<void> prepare_refreshed(std::uint32_t number, std::uint64_t since_s) override;
  Result<void> prepare_values(std::uint32_t number, std::span<const NamedValue> values);
  EntryId move_entry(std::uint32_t number) override;
  static std::optional<std::uint32_t> move_of(const EntryId& id);
  std::optional<EntryId> prepared_move(const MoveState& state);
  Result<MoveState> move_state();
  int put_move_state(Txn& txn, const MoveState& state);
  int take_place(Txn& txn, const std::string& name, Result<void>& fault);
  int end_refresh(Txn& txn, Refresh& next, Result<void>& fault);
  Result<std::vector<std::string>> moving();
  Result<void> commit_move(std::uint32_t number);
  Result<void> abandon_move(std::uint32_t number);

  Result<void> condemn_to_drop(const KeyId& id, std::uint64_t at_s) override;
  Result<void> prepare_change(const KeyId& id, DroppedChange change) override;
  Result<std::vector<DroppedKey>> dropped_behind(const KeyId& after, std::size_t most) override;
  std::size_t dropped_count() override;
  Result<std::optional<std::uint64_t>> dropped_first_at() override;
  Result<std::shared_ptr<const KeyRecord>> dropped_record(const KeyId& id) override;
  struct DroppedRow {
    DroppedState state = DroppedState::kDropped;
    std::uint64_t at_s = 0;
  };
  // None where it is not dropped.
  Result<std::optional<DroppedRow>> dropped_row(Txn& txn, const KeyId& id);
  Result<void> each_dropped_header(
      const std::function<void(const KeyId&, const DroppedRow&)>& look);
  int put_dropped(Txn& txn, const KeyId& id, const DroppedRow& row);
  int note_dropped(Txn& txn, bool& dropped);
  Result<void> drop_or_bury(Txn& txn, const KeyId& id);
  Result<void> commit_change(Txn& txn, const KeyId& id);
  Result<void> undo_change(Txn& txn, const KeyId& id);
  Result<void> condemn_with(const KeyId& id, ByteSpan sentence);
  Result<std::vector<KeyId>> changing();
  // Under which id a key's purge is an entry of the handshake's settling; and back. No key has the
  // id of another's.
  static EntryId purge_entry(const KeyId& id);

  bool blank() override;
  bool keeps_former() override;
  Result<void> begin_repair(std::uint32_t epoch) override;
  std::size_t tombstone_count() override;
  Result<std::vector<Tombstone>> tombstones(const std::optional<KeyId>& after,
                                            std::size_t most) override;
  Result<void> add_tombstones(std::span<const Tombstone> tombstones) override;
  Result<void> prepare_repair(std::uint64_t at_s, std::uint64_t keys) override;
  Result<Digest> next_inventory() override;
  Result<std::vector<PeerCertificate>> peers() override;
  Result<void> set_peers(std::span<const PeerCertificate> peers) override;
  Result<Digest> inventory_of(Table records, std::uint32_t epoch);

  Result<Bytes> read_state(ByteSpan name, const std::string& what);
  int uncount(Txn& txn);
  Result<void> write_owner(Txn& txn);
  Result<void> load_epochs(Txn& txn);
  Result<void> say_format(Txn& txn);
  Error failed(const std::string& step, int rc) const;
  Error corrupt(Table table, const KeyId& id) const;

  // One transaction, under write_mutex_. `change` returns a code of Tables.
  Result<void> write(const char* step, const std::function<int(Txn&)>& change);
  // One transaction that moves a key from one table to another.
  Result<void> move_key(const char* step, const KeyId& id,
                        Result<void> (RecordStore::*move)(Txn&, const KeyId&));
  Result<std::vector<KeyId>> ids_of(Table table);
  Result<bool> holds(Table table, const KeyId& id);
  Result<void> move_to_committed(Txn& txn, const KeyId& id);
  Result<void> bury(Txn& txn, const KeyId& id);
  Result<void> hash_table(Txn& txn, Table table, std::size_t header_bytes,
                          InventoryHash& inventory);
  bool decode(Table table, const KeyId& id, ByteSpan value, KeyRecord& record) const;
  bool is_record(ByteSpan plaintext, const KeyId& id, KeyRecord& record) const;
  bool decode(Table table, const KeyId& id, ByteSpan value, KeyRecord& record,
              PageReader& reader) const;

  StoreOptions options_;
  std::optional<Keyring> keyring_;
  SecretBuffer wrapping_;  // until the keys are known
  StoreKeys keys_;
  bool two_levels_ = false;
  StoreCipher cipher_;  // of all that no refresh replaces
  mutable std::mutex rows_mutex_;
  std::shared_ptr<const RowCiphers> rows_;
  RecordCache cache_;
  std::unique_ptr<PairedTables> tables_;
  std::mutex write_mutex_;
  // Under write_mutex_ once the store is open.
  Refresh refresh_;
  bool switch_due_ = false, tidy_due_ = false;
  bool keys_file_unsure_ = false;                  // it may have other keys of epochs than keys_
  bool has_dropped_ = false, epoch_keys_ = false;  // as the owner's record says
  // For those who only ask, and wait for no disk.
  std::mutex serving_mutex_;
  RefreshState serving_;
  std::mutex epochs_mutex_;
  Epochs epochs_;
};

}  // namespace tkdc
