// SPDX-License-Identifier: Apache-2.0
#include "sim/stores.h"

#include <algorithm>

#include "service/store/record_codec.h"
#include "service/store/store_cipher.h"
#include "sim/agents.h"

namespace tkdc::sim {
namespace {

const StoreCipher& cipher(int party) {
  static const StoreCipher all[] = {StoreCipher(store_key(0), kInstallation, 0),
                                    StoreCipher(store_key(1), kInstallation, 1),
                                    StoreCipher(store_key(2), kInstallation, 2)};
  return all[party];
}

// A value that serves as one of `table`, decrypted.
std::optional<SecretVector> value_in(int party, const TableSet& tables, Tables::Table table,
                                     const Bytes& id) {
  const Table& rows = rows_in(party, tables, table);
  const auto at = rows.find(id);
  SecretVector text;
  if (at == rows.end() || !cipher(party).decrypt(Tables::kNames[table], id, at->second, text))
    return std::nullopt;
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

SecretBuffer store_key(int party) {
  SecretBuffer key(32);
  std::fill_n(key.data(), 32, static_cast<std::uint8_t>(party + 1));
  return key;
}

StoredRefresh refresh_in(int party, const TableSet& tables) {
  StoredRefresh out;
  const Table& rows = tables[Tables::kMeta];
  const auto at = rows.find(Bytes(meta::kRefresh.begin(), meta::kRefresh.end()));
  SecretVector text;
  if (at == rows.end() ||
      !cipher(party).decrypt(Tables::kNames[Tables::kMeta], meta::kRefresh, at->second, text))
    return out;
  (void)decode_refresh(text, out);
  return out;
}

const Table& rows_in(int party, const TableSet& tables, Tables::Table table) {
  using enum Tables::Table;
  constexpr std::pair<Tables::Table, Tables::Table> kPairs[] = {{kCommitted, kNext},
                                                                {kMacs, kNextMacs}};
  Tables::Table is = table;
  for (const auto& [first, second] : kPairs)
    if ((table == first || table == second) && refresh_in(party, tables).second_pair)
      is = table == first ? second : first;
  return tables[is];
}

std::optional<KeyRecord> record_in(int party, const TableSet& tables, const Bytes& id) {
  const auto text = value_in(party, tables, Tables::kCommitted, id);
  KeyRecord record;
  if (!text || !decode_record(*text, record)) return std::nullopt;
  return record;
}

Bytes row_of(const Host& host, const KeyRecord& record) {
  return cipher(host.number)
      .encrypt(Tables::kNames[Tables::kCommitted], record.ref.id, record_header(record),
               encode_record(record));
}

bool knows_certificate(const Host& host, ByteSpan certificate) {
  const auto text = value_in(host.number, disk_of(host).tables, Tables::kMeta,
                             Bytes(meta::kPeers.begin(), meta::kPeers.end()));
  return text && !std::ranges::search(*text, certificate).empty();
}

std::optional<SecretVector> kept_value(const Host& host, std::string_view name) {
  return value_in(host.number, disk_of(host).tables, Tables::kValues,
                  Bytes(name.begin(), name.end()));
}

std::optional<MacRow> macs_of(const Host& host, const Bytes& id) {
  const auto text = value_in(host.number, disk_of(host).tables, Tables::kMacs, id);
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

bool same_keys(int party, const TableSet& tables, int other, const TableSet& others) {
  if (refresh_in(party, tables).is.epoch != refresh_in(other, others).is.epoch) return false;
  for (auto table : {Tables::kCommitted, Tables::kTombstones, Tables::kDropped}) {
    const std::size_t bytes = table == Tables::kDropped ? kDroppedHeaderBytes : kRecordHeaderBytes;
    if (told_of(rows_in(party, tables, table), bytes) !=
        told_of(rows_in(other, others, table), bytes))
      return false;
  }
  return true;
}

}  // namespace tkdc::sim
