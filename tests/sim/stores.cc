// SPDX-License-Identifier: Apache-2.0
#include "sim/stores.h"

#include <algorithm>
#include <array>

#include "service/store/record_codec.h"
#include "service/store/store_cipher.h"
#include "sim/agents.h"

namespace tkdc::sim {
namespace {

// What a store's keys were when they were last looked at.
struct Opened {
  std::string file;
  int wrapping = 0;
  std::optional<StoreKeys> keys;
  std::optional<StoreCipher> cipher;
  // The same with the keys of epochs that its values are under.
  EpochKeyId serving{}, other{};
  std::optional<RowCiphers> rows;
};

StoreOwner owner_of(int party) { return {kInstallation, party}; }

Opened& open(const StoreView& store) {
  static std::array<Opened, kServers> all;
  Opened& out = all[static_cast<std::size_t>(store.party)];
  if (out.file == store.keys && out.wrapping == store.wrapping) return out;
  out = {store.keys, store.wrapping, {}, {}, {}, {}, {}};
  auto keys =
      keyring_of(store.party).read(octets(store.keys), wrapping_key(store.party, store.wrapping));
  if (!keys.ok()) return out;
  out.keys = std::move(*keys);
  out.cipher = store_cipher(*out.keys, owner_of(store.party));
  return out;
}

// As its server would.
const RowCiphers* row_ciphers(const StoreView& store) {
  Opened& opened = open(store);
  if (!opened.keys) return nullptr;
  const StoredRefresh refresh = refresh_in(store);
  const bool alone =
      refresh.other_key == EpochKeyId{} && refresh.other == StoredRefresh::Other::kNothing;
  const EpochKeyId other = alone ? refresh.key : refresh.other_key;
  if (!opened.rows || refresh.key != opened.serving || other != opened.other) {
    opened.serving = refresh.key;
    opened.other = other;
    opened.rows.emplace(*opened.keys, refresh.key, other, owner_of(store.party));
  }
  return &*opened.rows;
}

// A value that serves as one of `table`, decrypted.
std::optional<SecretVector> value_in(const StoreView& store, Tables::Table table, const Bytes& id) {
  const Table& rows = rows_in(store, table);
  const auto at = rows.find(id);
  const RowCiphers* ciphers = row_ciphers(store);
  if (at == rows.end() || ciphers == nullptr) return std::nullopt;
  const StoreCipher* of_row = ciphers->of(table, id);
  const StoreCipher& cipher = of_row != nullptr ? *of_row : *open(store).cipher;
  SecretVector text;
  if (!cipher.decrypt(Tables::kNames[table], id, at->second, text)) return std::nullopt;
  return text;
}

// What of a table the inventory has.
std::vector<std::pair<Bytes, Bytes>> told_of(const Table& rows, std::size_t header_bytes) {
  std::vector<std::pair<Bytes, Bytes>> out;
  for (const auto& [name, value] : rows) {
    ByteSpan header;
    (void)StoreCipher::header(value, header_bytes, header);
    out.emplace_back(name, Bytes(header.begin(), header.end()));
  }
  return out;
}

}  // namespace

SecretBuffer wrapping_key(int party, int number) {
  SecretBuffer key(kStoreKeyBytes);
  std::fill_n(key.data(), key.size(), static_cast<std::uint8_t>(party + 1));
  key.data()[0] = static_cast<std::uint8_t>(number);
  return key;
}

Keyring keyring_of(int party) { return {kStorePath, owner_of(party)}; }

const StoreKeys* keys_in(const StoreView& store) {
  const Opened& opened = open(store);
  return opened.keys ? &*opened.keys : nullptr;
}

StoredRefresh refresh_in(const StoreView& store) {
  StoredRefresh out;
  const Table& rows = store.tables[Tables::kMeta];
  const auto at = rows.find(Bytes(meta::kRefresh.begin(), meta::kRefresh.end()));
  const Opened& opened = open(store);
  SecretVector text;
  if (at != rows.end() && opened.cipher &&
      opened.cipher->decrypt(Tables::kNames[Tables::kMeta], meta::kRefresh, at->second, text))
    (void)decode_refresh(text, out);
  return out;
}

std::optional<Epochs> epochs_of(const Host& host) {
  const auto text =
      value_in(view_of(host), Tables::kMeta, Bytes(meta::kEpochs.begin(), meta::kEpochs.end()));
  Epochs out;
  if (!text || !decode_epochs(*text, out)) return std::nullopt;
  return out;
}

const Table& rows_in(const StoreView& store, Tables::Table table) {
  using enum Tables::Table;
  constexpr std::pair<Tables::Table, Tables::Table> kPairs[] = {{kCommitted, kNext},
                                                                {kMacs, kNextMacs}};
  Tables::Table is = table;
  for (const auto& [first, second] : kPairs)
    if ((table == first || table == second) && refresh_in(store).second_pair)
      is = table == first ? second : first;
  return store.tables[is];
}

std::optional<KeyRecord> record_in(const StoreView& store, const Bytes& id) {
  const auto text = value_in(store, Tables::kCommitted, id);
  KeyRecord record;
  if (!text || !decode_record(*text, record)) return std::nullopt;
  return record;
}

Bytes row_of(const Host& host, const KeyRecord& record) {
  return row_ciphers(view_of(host))
      ->serving()
      .encrypt(Tables::kNames[Tables::kCommitted], record.ref.id, record_header(record),
               encode_record(record));
}

bool knows_certificate(const Host& host, ByteSpan certificate) {
  const auto text =
      value_in(view_of(host), Tables::kMeta, Bytes(meta::kPeers.begin(), meta::kPeers.end()));
  return text && !std::ranges::search(*text, certificate).empty();
}

std::optional<SecretVector> kept_value(const Host& host, std::string_view name) {
  return value_in(view_of(host), Tables::kValues, Bytes(name.begin(), name.end()));
}

std::optional<MacRow> macs_of(const Host& host, const Bytes& id) {
  const auto text = value_in(view_of(host), Tables::kMacs, id);
  MacRow row;
  if (!text || !decode_mac_row(*text, row)) return std::nullopt;
  return row;
}

DroppedIs dropped_in(ByteSpan row) {
  DroppedIs out;
  ByteSpan header;
  if (StoreCipher::header(row, kDroppedHeaderBytes, header))
    (void)decode_dropped(header, out.state, out.at_s);
  return out;
}

bool same_keys(const StoreView& one, const StoreView& other) {
  if (refresh_in(one).is.epoch != refresh_in(other).is.epoch) return false;
  for (auto table : {Tables::kCommitted, Tables::kTombstones, Tables::kDropped}) {
    const std::size_t bytes = table == Tables::kDropped ? kDroppedHeaderBytes : kRecordHeaderBytes;
    if (told_of(rows_in(one, table), bytes) != told_of(rows_in(other, table), bytes)) return false;
  }
  return true;
}

bool fit_each_other(const StoreView& store) {
  const Table& meta = store.tables[Tables::kMeta];
  const auto check = meta.find(Bytes(meta::kKeyCheck.begin(), meta::kKeyCheck.end()));
  if (check == meta.end()) return true;  // nothing has been written yet
  const Opened& opened = open(store);
  SecretVector text;
  if (!opened.keys ||
      !opened.cipher->decrypt(Tables::kNames[Tables::kMeta], meta::kKeyCheck, check->second, text))
    return false;
  const StoredRefresh refresh = refresh_in(store);
  return has_epoch_key(*opened.keys, refresh.key) &&
         (refresh.other == StoredRefresh::Other::kNothing ||
          has_epoch_key(*opened.keys, refresh.other_key));
}

}  // namespace tkdc::sim
