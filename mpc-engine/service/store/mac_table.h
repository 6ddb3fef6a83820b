// SPDX-License-Identifier: Apache-2.0
// The MACs of records (docs/protocols/23-share-macs.md), in a table of their own beside them: what
// uses a key does not read them, a store of before has none, and none is lost when records are
// written anew. One row for each key: this party's tags, as prover, of both its components.
//
// A record that is prepared with MACs (KeyRecord::macs) has its row in the same transaction; what
// is abandoned or destroyed loses it. Calls are thread-safe, and writes durable when they return.
//
// Secret: tags, and the MAC keys. A row is sealed like a record, under its key id.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mac/keys.h"
#include "service/store/record.h"

namespace tkdc {

struct MacRow {
  MacKeyId key{};                   // under which both dealers dealt
  std::uint32_t refresh_epoch = 0;  // of the record
  std::uint32_t version = 0;        // of the record
  Dealing dealing;
  SecretVector tag[2];
};

// Longer than of any record.
inline constexpr std::size_t kMaxMacTagBytes = std::size_t{1} << 24;

SecretVector encode_mac_row(const MacRow& row);
// False when malformed.
[[nodiscard]] bool decode_mac_row(ByteSpan in, MacRow& row);

struct StoredKey {
  std::shared_ptr<const KeyRecord> record;
  std::optional<MacRow> macs;
  bool unreadable = false;  // its MACs: there is a row that does not decrypt, or is malformed
};

struct NamedMacs {
  KeyId id{};
  MacRow row;
};

class MacTable {
 public:
  virtual ~MacTable() = default;

  // Committed keys behind `after` in the order of their ids; so many at most. Read past the cache
  // of records. Error: a record is corrupt, and named.
  virtual Result<std::vector<StoredKey>> page(const std::optional<KeyId>& after,
                                              std::size_t most) = 0;
  // In one transaction, over what was there. Keys that are gone are passed over.
  virtual Result<void> put(std::span<const NamedMacs> rows) = 0;
  virtual std::size_t rows() = 0;
  // How many refreshes the records have been through.
  virtual std::uint32_t refresh_epoch() = 0;

  // What the owner keeps of MAC keys; empty at first.
  virtual Result<SecretVector> keys() = 0;
  virtual Result<void> set_keys(ByteSpan keys) = 0;
};

}  // namespace tkdc
