// SPDX-License-Identifier: Apache-2.0
// The share store of one party: LMDB, each record encrypted under the store
// key. All calls are thread-safe; writes are durable when they return.
//
// A key is an entry that all three servers hold or none (session/entries.h). prepare() writes a
// record that get() does not return yet; commit() makes it visible. condemn() marks a record, which
// stays usable; destroy() removes it. The inventory is BLAKE2b-256 over the ids, kvnos, enctypes
// and versions of committed records and tombstones, in key order. Records keep the era in which
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

class Store : public Entries {
 public:
  // `key`: 32 octets. Errors: not a store of this installation and party,
  // wrong key, unreadable: each names the path and what to do.
  static Result<std::unique_ptr<Store>> open(const StoreOptions& options, const SecretBuffer& key);

  // Error: a record with this id exists; map or disk full; I/O. The store is unchanged then. The
  // map counts as full while there is room left for what the other calls write, so that none of
  // them fails for want of room: else one server would lack what the others have committed.
  virtual Result<void> prepare(const KeyRecord& record) = 0;
  // Marks a committed record for removal; it stays usable.
  virtual Result<void> condemn(const KeyId& id) = 0;

  // Null when there is no committed record of that id. Error: the record is
  // corrupt or foreign; the message names it. Decrypted records are cached.
  virtual Result<std::shared_ptr<const KeyRecord>> get(const KeyId& id) = 0;

  virtual std::size_t count() = 0;

  // An upper bound of how often a key has sealed (service/sealing/seal_counts.h); 0 at
  // first. Gone with the key.
  virtual Result<std::uint64_t> seal_mark(const KeyId& id) = 0;
  virtual Result<void> set_seal_mark(const KeyId& id, std::uint64_t mark) = 0;

  // What service/sealing/revocations.h keeps; empty at first.
  virtual Result<Bytes> revoked() = 0;
  virtual Result<void> set_revoked(ByteSpan state) = 0;
};

}  // namespace tkdc
