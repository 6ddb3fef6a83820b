// SPDX-License-Identifier: Apache-2.0
// The share store of one party: LMDB, each record encrypted under the store
// key. All calls are thread-safe; writes are durable when they return.
//
// A key is present at all three servers or at none. prepare() writes a record
// that get() does not return yet; when all three have prepared it, commit()
// makes it visible. A crash in between is settled when the next session
// starts: a prepared record that any party has committed is committed, every
// other prepared record is dropped. Removal takes the same two steps: condemn()
// marks a record, and when all three have marked it, destroy() removes it; after
// a crash a condemned record that any party has buried is destroyed, every
// other one is pardoned. So no server removes what it did not agree to remove.
// (session/reconcile.h runs that exchange.)
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "session/epochs.h"
#include "service/store/record.h"

namespace tkdc {

struct StoreOptions {
  std::string path;  // a directory; made when absent
  InstallationId installation{};
  int party = 0;
  std::size_t map_bytes = std::size_t{16} << 30;
};

class Store {
 public:
  // `key`: 32 octets. Errors: not a store of this installation and party,
  // wrong key, unreadable: each names the path and what to do.
  static Result<std::unique_ptr<Store>> open(const StoreOptions& options, const SecretBuffer& key);
  virtual ~Store() = default;

  // Error: a record with this id exists; map or disk full; I/O. The store is unchanged then. The
  // map counts as full while there is room left for what the other calls write, so that none of
  // them fails for want of room: else one server would lack what the others have committed.
  virtual Result<void> prepare(const KeyRecord& record) = 0;
  virtual Result<void> commit(const KeyId& id) = 0;
  virtual Result<void> abandon(const KeyId& id) = 0;
  // Marks a committed record for removal; it stays usable.
  virtual Result<void> condemn(const KeyId& id) = 0;
  virtual Result<void> pardon(const KeyId& id) = 0;
  // Leaves a tombstone. Unknown ids are not an error.
  virtual Result<void> destroy(const KeyId& id) = 0;

  // Null when there is no committed record of that id. Error: the record is
  // corrupt or foreign; the message names it. Decrypted records are cached.
  virtual Result<std::shared_ptr<const KeyRecord>> get(const KeyId& id) = 0;

  // What the settling of half made keys goes by. An error is no "no": a record
  // that could not be read would be dropped although a peer has committed it.
  virtual Result<std::vector<KeyId>> prepared() = 0;
  virtual Result<std::vector<KeyId>> condemned() = 0;
  virtual Result<bool> committed(const KeyId& id) = 0;
  virtual Result<bool> buried(const KeyId& id) = 0;
  virtual std::size_t count() = 0;
  // BLAKE2b-256 over the ids, kvnos, enctypes and versions of all committed
  // records and tombstones, in key order: equal at all three parties.
  virtual Result<Digest> inventory() = 0;

  // An upper bound of how often a key has sealed (service/lifecycle/seal_counts.h); 0 at
  // first. Gone with the key.
  virtual Result<std::uint64_t> seal_mark(const KeyId& id) = 0;
  virtual Result<void> set_seal_mark(const KeyId& id, std::uint64_t mark) = 0;

  // What service/revoke/revocations.h keeps; empty at first.
  virtual Result<Bytes> revoked() = 0;
  virtual Result<void> set_revoked(ByteSpan state) = 0;

  // All 0 at first. Records keep the era in which they were prepared.
  virtual Epochs epochs() = 0;
  // Error: epochs_fault(), or not written.
  virtual Result<void> set_epochs(const Epochs& epochs) = 0;
};

}  // namespace tkdc
