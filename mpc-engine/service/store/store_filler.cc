// SPDX-License-Identifier: Apache-2.0
#include "service/store/store_filler.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/durable_file.h"
#include "base/system_error.h"
#include "service/store/kept_values.h"
#include "service/store/keyring.h"
#include "service/store/lmdb_tables.h"
#include "service/store/meta_values.h"
#include "service/store/row_ciphers.h"

namespace tkdc {
namespace {

using Table = Tables::Table;

constexpr std::size_t kValuesInOne = 1'000;

Table table_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::kMeta: return Tables::kMeta;
    case ValueKind::kRecord: return Tables::kCommitted;
    case ValueKind::kPrepared: return Tables::kPrepared;
    case ValueKind::kTombstone: return Tables::kTombstones;
    case ValueKind::kCondemned: return Tables::kCondemned;
    case ValueKind::kSeals: return Tables::kSeals;
    case ValueKind::kMacs: return Tables::kMacs;
    case ValueKind::kDropped: return Tables::kDropped;
    case ValueKind::kKept: return Tables::kValues;
  }
  return Tables::kTables;
}

class Filler final : public StoreFiller {
 public:
  Filler(const StoreOptions& options, const FillOptions& fill) : options_(options), fill_(fill) {}

  Result<void> open(const SecretBuffer& wrapping);
  Result<void> put(const StoredValue& value) override;
  Result<void> finish() override;

 private:
  Result<void> put_meta(const StoredValue& value);
  Result<void> put_used_up(const StoredValue& head);
  Result<void> put_move(const StoredValue& value);
  Result<void> write(Table table, ByteSpan name, ByteSpan value);
  Result<void> write_sealed(Table table, ByteSpan name, ByteSpan header, ByteSpan plain) {
    const StoreCipher* of_row = rows_->of(table, name);
    const StoreCipher& cipher = of_row != nullptr ? *of_row : *cipher_;
    return write(table, name, cipher.encrypt(Tables::kNames[table], name, header, plain));
  }
  Result<void> commit();
  Error failed(int rc) const { return fail(tables_failed("restoring", options_.path, rc)); }

  StoreOptions options_;
  FillOptions fill_;
  std::unique_ptr<Tables> tables_;
  std::optional<Txn> txn_;
  std::size_t in_this_one_ = 0;
  OwnerRecord owner_{.two_levels = true, .epoch_keys = true};
  EpochKeyId key_{};
  std::optional<StoreCipher> cipher_;
  std::optional<RowCiphers> rows_;
};

// A store that is new, with keys of its own, of which all that follows takes the place.
Result<void> Filler::open(const SecretBuffer& wrapping) {
  if (::mkdir(options_.path.c_str(), 0700) != 0)
    return system_error("store: cannot make " + options_.path);
  if (auto made = Store::open(options_, wrapping); !made.ok()) return made.error();
  auto keys = Keyring(options_.path, {options_.installation, options_.party}).read(wrapping);
  if (!keys.ok()) return keys.error();
  if (keys->epochs.size() != 1) return fail("store: the new store has not the keys of one epoch");
  const StoreOwner whose{options_.installation, options_.party};
  key_ = keys->epochs.front().id;
  cipher_.emplace(store_cipher(*keys, whose));
  rows_.emplace(*keys, key_, key_, whose);
  auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
  if (!tables.ok()) return tables.error();
  tables_ = std::move(*tables);
  return {};
}

Result<void> Filler::commit() {
  if (!txn_) return {};
  const int rc = (*txn_)->commit();
  txn_.reset();
  in_this_one_ = 0;
  if (rc != 0) return failed(rc);
  return {};
}

Result<void> Filler::write(Table table, ByteSpan name, ByteSpan value) {
  if (!txn_) txn_.emplace(*tables_, true);
  int rc = txn_->begun();
  if (rc == 0) rc = (*txn_)->put(table, name, value);
  if (rc != 0) return failed(rc);
  return ++in_this_one_ < kValuesInOne ? Result<void>() : commit();
}

// The pair of tables that serves is the first one again.
Result<void> Filler::put_meta(const StoredValue& value) {
  // Of the log on the disk that was lost.
  if (std::ranges::equal(value.name, meta::kAuditHead)) return {};
  if (std::ranges::equal(value.name, meta::kEpochs)) {
    Epochs epochs;
    if (!decode_epochs(value.plain, epochs)) return fail("store: these are no nonce epochs");
    if (fill_.next_era && epochs.era == std::numeric_limits<std::uint32_t>::max())
      return fail("store: there is no era of nonce epochs after this one");
    if (fill_.next_era) epochs = {epochs.era + 1, 0, 0, epochs.spent, epochs.spent_at_s};
    return write_sealed(Tables::kMeta, value.name, {}, encode_epochs(epochs));
  }
  if (std::ranges::equal(value.name, meta::kRefresh)) {
    StoredRefresh refresh;
    if (!decode_refresh(value.plain, refresh)) return fail("store: this is no refresh epoch");
    owner_.refreshed = refresh.is.epoch > 0;
    return write_sealed(Tables::kMeta, value.name, {},
                        encode_refresh({.is = refresh.is, .key = key_}));
  }
  return write_sealed(Tables::kMeta, value.name, value.header, value.plain);
}

// A pool of which no block is left, whatever the backup's server had of it.
Result<void> Filler::put_used_up(const StoredValue& head) {
  if (head.plain.size() != kept::kHeadBytes) return fail("store: this is no pool's head");
  const std::string next =
      kept::next_of({reinterpret_cast<const char*>(head.name.data()), head.name.size()});
  Bytes number;
  Writer(number).u64(kept::blocks_of(head.plain));
  return write_sealed(Tables::kValues, octets(next), {}, number);
}

// What was prepared to move when the backup was taken does not move. Where the servers gave that
// move up, the other one may have made another of the same number since, and would take this one's
// records for that one's.
Result<void> Filler::put_move(const StoredValue& value) {
  if (!std::ranges::equal(value.name, octets(kept::kMoveState))) return {};
  if (value.plain.size() != kept::kMoveStateBytes) return fail("store: this is no state of moves");
  Bytes state;
  Writer out(state);
  out.u32(Reader(value.plain).u32());
  out.u32(0);
  return write_sealed(Tables::kValues, value.name, value.header, state);
}

Result<void> Filler::put(const StoredValue& value) {
  if (value.kind == ValueKind::kMeta) return put_meta(value);
  const std::string_view name(reinterpret_cast<const char*>(value.name.data()), value.name.size());
  if (value.kind == ValueKind::kKept && name.starts_with(kept::kMove)) return put_move(value);
  if (value.kind == ValueKind::kKept && kept::is_head(name))
    if (auto number = put_used_up(value); !number.ok()) return number;
  const Table table = table_of(value.kind);
  if (table == Tables::kTables) return fail("store: this release knows no such kind of value");
  owner_.dropped = owner_.dropped || table == Tables::kDropped;
  return write_sealed(table, value.name, value.header, value.plain);
}

Result<void> Filler::finish() {
  Bytes generation;
  Writer(generation).u64(fill_.generation);
  auto done = write_sealed(Tables::kMeta, meta::kGeneration, {}, generation);
  if (done.ok()) done = write(Tables::kMeta, meta::kOwner, encode_owner(owner_, options_));
  if (done.ok()) done = commit();
  if (!done.ok()) return done;
  tables_.reset();
  if (!sync_folder(options_.path)) return system_error("store: cannot sync " + options_.path);
  return {};
}

}  // namespace

Result<std::unique_ptr<StoreFiller>> StoreFiller::create(const StoreOptions& options,
                                                         const SecretBuffer& wrapping,
                                                         const FillOptions& fill) {
  auto filler = std::make_unique<Filler>(options, fill);
  if (auto opened = filler->open(wrapping); !opened.ok()) return opened.error();
  return std::unique_ptr<StoreFiller>(std::move(filler));
}

}  // namespace tkdc
