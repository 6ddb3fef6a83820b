// SPDX-License-Identifier: Apache-2.0
// The share store of one party: LMDB, each record encrypted under the store
// key. All calls are thread-safe; writes are durable when they return.
//
// A key is an entry that all three servers hold or none (session/entries.h). prepare() writes a
// record that get() does not return yet; commit() makes it visible. condemn() marks a record, which
// stays usable; destroy() removes it. The inventory is BLAKE2b-256 over the ids, kvnos, enctypes
// and versions of committed records and tombstones, in key order, and since when which are dropped.
// Records keep the era in which
// they were prepared.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "service/store/record.h"
#include "session/entries.h"

namespace tkdc {

struct StoreOptions {
  std::string path;  // a directory; made when absent
  InstallationId installation{};
  int party = 0;
  std::size_t map_bytes = std::size_t{16} << 30;
};

class Keyring;       // service/store/keyring.h
class DroppedTable;  // service/store/dropped_table.h
class MacTable;      // service/store/mac_table.h
class MoveTable;     // service/store/move_table.h
class RefreshTable;  // service/store/refresh_table.h
class RepairTable;   // service/store/repair_table.h
class Tables;
class ValueTable;  // service/store/value_table.h

// How far the values of a store have been rewritten.
struct RekeyAt {
  int table = 0;
  Bytes name;
};

class Store : public Entries {
 public:
  // `key`: 32 octets, which the store's keys are wrapped under (keyring.h); in a store that was
  // made before there were two levels, and whose keys were never changed, the store's key itself.
  // Errors: not a store of this installation and party, wrong key, unreadable: each names the path
  // and what to do.
  static Result<std::unique_ptr<Store>> open(const StoreOptions& options, const SecretBuffer& key);
  // The same on tables that are open, with the keys of `keyring`, or with `key` as the store's own.
  static Result<std::unique_ptr<Store>> open_on(std::unique_ptr<Tables> tables,
                                                const StoreOptions& options,
                                                const SecretBuffer& key,
                                                const Keyring* keyring = nullptr);

  // Error: a record with this id exists; map or disk full; I/O. The store is unchanged then. The
  // map counts as full while there is room left for what the other calls write, so that none of
  // them fails for want of room: else one server would lack what the others have committed.
  virtual Result<void> prepare(const KeyRecord& record) = 0;
  // Marks a committed record for removal; it stays usable.
  virtual Result<void> condemn(const KeyId& id) = 0;

  // Null when there is no committed record of that id. Error: the record is
  // corrupt or foreign; the message names it. Decrypted records are cached.
  virtual Result<std::shared_ptr<const KeyRecord>> get(const KeyId& id) = 0;

  // With those that are dropped.
  virtual std::size_t count() = 0;
  // Of committed records, ascending, those behind `after`; so many at most. None that is dropped.
  virtual Result<std::vector<KeyId>> ids_behind(const KeyId& after, std::size_t most) = 0;

  // The records' MACs; null where the store keeps none.
  virtual MacTable* macs() { return nullptr; }
  // For a refresh of all records; null where the store has none.
  virtual RefreshTable* refresh() { return nullptr; }
  // For the repair of a server that has lost its own; null where the store has none.
  virtual RepairTable* repair() { return nullptr; }
  // What is kept beside the keys under names of its own; null where the store has none.
  virtual ValueTable* values() { return nullptr; }
  // Keys that were removed and may come back; null where the store has none.
  virtual DroppedTable* dropped() { return nullptr; }
  // For records that are replaced by new versions; null where the store has none.
  virtual MoveTable* moves() { return nullptr; }

  // An upper bound of how often a key has sealed (service/sealing/seal_counts.h); 0 at
  // first. Gone with the key.
  virtual Result<std::uint64_t> seal_mark(const KeyId& id) = 0;
  virtual Result<void> set_seal_mark(const KeyId& id, std::uint64_t mark) = 0;

  // What service/sealing/revocations.h keeps; empty at first.
  virtual Result<Bytes> revoked() = 0;
  virtual Result<void> set_revoked(ByteSpan state) = 0;

  // The last head of the server's audit log (service/server/audit_mark.h); empty at first, and
  // after a restore.
  virtual Result<Bytes> audit_head() { return Bytes(); }
  virtual Result<void> set_audit_head(ByteSpan /*head*/) { return {}; }

  // The store's keys are changed (record_store_rekey.cc), by one who then calls rewrite() until it
  // has seen nothing more, and end_rekey(). From the first on `wrapping`, which the store was
  // opened with, and `next` both open the store; after the last only `next`. What was begun and not
  // ended is taken up again by the same calls.
  virtual Result<void> begin_rekey(const SecretBuffer& /*wrapping*/, const SecretBuffer& /*next*/) {
    return fail(kNoKeys);
  }
  // How many values it has seen, at most `most`, in one transaction.
  virtual Result<std::size_t> rewrite(std::size_t /*most*/, RekeyAt& /*at*/) {
    return fail(kNoKeys);
  }
  // How many values rewrite() will see in all.
  virtual Result<std::size_t> values_to_rewrite() { return fail(kNoKeys); }
  virtual Result<void> end_rekey(const SecretBuffer& /*next*/) { return fail(kNoKeys); }
  virtual bool two_levels() const { return false; }  // nor has a store of before
  virtual bool rekey_is_under_way() const { return false; }

 private:
  static constexpr const char* kNoKeys = "store: this one is under no keys";
};

}  // namespace tkdc
