// SPDX-License-Identifier: Apache-2.0
#include "service/backup/backup_check.h"

#include <algorithm>

#include "base/hex.h"
#include "service/store/inventory_hash.h"
#include "service/store/kept_values.h"
#include "service/store/mac_table.h"
#include "service/store/meta_values.h"
#include "service/store/record_codec.h"
#include "service/store/stored_value.h"

namespace tkdc {

bool is_backup_file_name(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= kMostEntryNameBytes && name.front() != '.' &&
         std::ranges::all_of(name, fits);
}

namespace {

class Check {
 public:
  explicit Check(const BackupReader& reader) : reader_(reader) {
    inventory_.begin_table(Tables::kNames[Tables::kCommitted]);
  }

  Result<void> see(const BackupEntry& entry);
  Result<BackupContents> end();

 private:
  Result<void> see_value(const BackupEntry& entry);
  Result<void> see_meta(const BackupEntry& entry);
  Result<void> see_record(const BackupEntry& entry, bool committed);
  Result<void> see_macs(const BackupEntry& entry, const KeyId& id);
  Result<void> see_dropped(const BackupEntry& entry, const KeyId& id);
  Result<void> see_kept(const BackupEntry& entry);
  Result<void> see_file(const BackupEntry& entry);
  Error wrong(const BackupEntry& entry, const std::string& what) const {
    const bool word = entry.kind == kBackupFileKind || entry.kind == meta_kind() ||
                      entry.kind == static_cast<std::uint8_t>(ValueKind::kKept);
    const std::string name =
        word ? std::string(entry.name.begin(), entry.name.end()) : to_hex(entry.name);
    return fail(reader_.path() + ": kind " + std::to_string(entry.kind) + ", " + name + ": " +
                what + "; this backup is good for nothing: take another");
  }
  static std::uint8_t meta_kind() { return static_cast<std::uint8_t>(ValueKind::kMeta); }
  static bool holds(const std::vector<KeyId>& ids, const KeyId& id) {
    return std::ranges::binary_search(ids, id);  // they came in this order
  }

  const BackupReader& reader_;
  BackupContents out_;
  std::uint8_t kind_ = 0;
  Bytes name_;
  std::vector<KeyId> committed_, prepared_;
  InventoryHash inventory_;
  bool tombstones_begun_ = false, epochs_ = false;
  std::uint32_t refresh_epoch_ = 0;
};

// Each name once, in their order: so two backups of one moment have the same contents.
Result<void> Check::see(const BackupEntry& entry) {
  if (entry.kind < kind_ ||
      (entry.kind == kind_ && !std::ranges::lexicographical_compare(name_, entry.name)))
    return wrong(entry, "it is out of its order");
  kind_ = entry.kind;
  name_.assign(entry.name.begin(), entry.name.end());
  if (entry.kind == kBackupFileKind) return see_file(entry);
  if (entry.kind == meta_kind()) return see_meta(entry);
  if (entry.kind == static_cast<std::uint8_t>(ValueKind::kKept)) return see_kept(entry);
  return see_value(entry);
}

Result<void> Check::see_value(const BackupEntry& entry) {
  KeyId id{};
  if (entry.name.size() != id.size()) return wrong(entry, "this is no key's id");
  std::ranges::copy(entry.name, id.begin());
  const auto kind = static_cast<ValueKind>(entry.kind);
  if (kind > ValueKind::kPrepared && !std::exchange(tombstones_begun_, true))
    inventory_.begin_table(Tables::kNames[Tables::kTombstones]);
  switch (kind) {
    case ValueKind::kRecord: return see_record(entry, true);
    case ValueKind::kPrepared: return see_record(entry, false);
    case ValueKind::kTombstone:
      if (entry.header.size() != kRecordHeaderBytes || !entry.contents.empty())
        return wrong(entry, "this is no note of a key that was destroyed");
      inventory_.add(entry.name, entry.header);
      ++out_.tombstones;
      return {};
    case ValueKind::kCondemned:
      if (!holds(committed_, id)) return wrong(entry, "a key that is not there is to be removed");
      ++out_.condemned;
      return {};
    case ValueKind::kSeals:
      if (entry.contents.size() != 8) return wrong(entry, "this is no count of seals");
      ++out_.seals;
      return {};
    case ValueKind::kMacs: return see_macs(entry, id);
    case ValueKind::kDropped: return see_dropped(entry, id);
    default: return wrong(entry, "this release knows no such kind");
  }
}

Result<void> Check::see_meta(const BackupEntry& entry) {
  if (std::ranges::equal(entry.name, meta::kEpochs)) {
    Epochs epochs;
    if (!decode_epochs(entry.contents, epochs) || epochs.era != reader_.head().era)
      return wrong(entry, "these are no nonce epochs, or of another era than the head says");
    epochs_ = true;
  }
  if (std::ranges::equal(entry.name, meta::kRefresh)) {
    StoredRefresh refresh;
    if (!decode_refresh(entry.contents, refresh) || refresh.other != StoredRefresh::Other::kNothing)
      return wrong(entry, "this is no refresh epoch");
    refresh_epoch_ = refresh.is.epoch;
    out_.refreshed_at_s = refresh.is.at_s;
  }
  return {};
}

Result<void> Check::see_record(const BackupEntry& entry, bool committed) {
  KeyRecord record;
  if (!decode_record(entry.contents, record) || !std::ranges::equal(record.ref.id, entry.name))
    return wrong(entry, "the record does not decode");
  if (record.ref.installation != reader_.head().installation)
    return wrong(entry, "the record is another installation's");
  if (!std::ranges::equal(record_header(record), entry.header))
    return wrong(entry, "the record is another version than it says");
  (committed ? committed_ : prepared_).push_back(record.ref.id);
  ++(committed ? out_.records : out_.prepared);
  if (committed) inventory_.add(entry.name, entry.header);
  return {};
}

Result<void> Check::see_macs(const BackupEntry& entry, const KeyId& id) {
  MacRow row;
  if (!decode_mac_row(entry.contents, row)) return wrong(entry, "the MACs do not decode");
  const bool of_committed = holds(committed_, id);
  if (!of_committed && !holds(prepared_, id))
    return wrong(entry, "MACs of a key that is not there");
  if (of_committed) ++out_.macs;
  return {};
}

Result<void> Check::see_dropped(const BackupEntry& entry, const KeyId& id) {
  DroppedState state{};
  std::uint64_t at_s = 0;
  if (!decode_dropped(entry.header, state, at_s) || !entry.contents.empty() ||
      !holds(committed_, id))
    return wrong(entry, "this is no note of a dropped key, or there is no such key");
  if (out_.dropped++ == 0) inventory_.begin_table(Tables::kNames[Tables::kDropped]);
  inventory_.add(entry.name, entry.header);
  return {};
}

Result<void> Check::see_kept(const BackupEntry& entry) {
  const std::string name(entry.name.begin(), entry.name.end());
  KeyRecord record;
  const bool fixed = name == kept::kMoveState || name == kept::kMoveRefreshed;
  const bool good = kept::is_head(name) ? entry.contents.size() == kept::kHeadBytes
                    : fixed
                        ? entry.contents.size() == 8
                        : name.starts_with(kept::kMove) && decode_record(entry.contents, record) &&
                              record.ref.installation == reader_.head().installation;
  if (!good || !entry.header.empty()) return wrong(entry, "this is no value of two servers");
  if (kept::is_head(name)) ++out_.pools;
  return {};
}

Result<void> Check::see_file(const BackupEntry& entry) {
  BackupFile file{{entry.name.begin(), entry.name.end()}, {}};
  if (!is_backup_file_name(file.name) || entry.contents.size() > kMostBackupFileBytes ||
      out_.files.size() == kMostBackupFiles)
    return wrong(entry, "this is no file of a server's folder");
  file.contents.assign(entry.contents.begin(), entry.contents.end());
  out_.files.push_back(std::move(file));
  return {};
}

Result<BackupContents> Check::end() {
  const BackupHead& head = reader_.head();
  if (!std::exchange(tombstones_begun_, true))
    inventory_.begin_table(Tables::kNames[Tables::kTombstones]);
  if (!epochs_ || refresh_epoch_ != head.refresh_epoch || out_.records != head.records ||
      inventory_.finish(refresh_epoch_) != head.inventory)
    return fail(reader_.path() +
                ": what it holds is not what its head says; this backup is good for nothing: take "
                "another");
  out_.without_macs = out_.records - out_.macs;
  return std::move(out_);
}

}  // namespace

Result<BackupContents> check_backup(BackupReader& reader, const Watch& watch) {
  Check check(reader);
  BackupEntry entry;
  for (;;) {
    auto more = reader.next(entry);
    if (!more.ok()) return more.error();
    if (!*more) return check.end();
    if (auto on = look(watch, reader.octets(), reader.head().body_bytes); !on.ok())
      return on.error();
    if (auto seen = check.see(entry); !seen.ok()) return seen.error();
  }
}

}  // namespace tkdc
