// SPDX-License-Identifier: Apache-2.0
// All of a store as it was at one moment, read beside the server that goes on with it: one LMDB
// read transaction, and the store's keys. For a backup.
//
// Of the named values (value_table.h) it has those that a backup holds (kept_values.h).
//
// Of the two pairs of tables only the one that serves is read. While a refresh waits for the next
// session, and so both may yet serve, there is no snapshot.
//
// The generation counts a store's transactions, over its restores: of two states of one refresh
// epoch the one with the higher is the newer.
//
// One thread. Not in a process that has the store open itself: LMDB opens a file once. Secret:
// what each() shows.
#pragma once

#include <memory>

#include "service/store/store.h"
#include "service/store/stored_value.h"

namespace tkdc {

struct StoreMoment {
  std::uint32_t refresh_epoch = 0;
  std::uint64_t generation = 0;
  Epochs epochs;
  std::uint64_t records = 0;
  std::array<std::uint8_t, 32> inventory{};
};

class StoreSnapshot {
 public:
  virtual ~StoreSnapshot() = default;

  // `wrapping`: as Store::open(). Error: not this installation's and party's, wrong key, damaged,
  // or a refresh waits.
  static Result<std::unique_ptr<StoreSnapshot>> take(const StoreOptions& options,
                                                     const SecretBuffer& wrapping);

  virtual const StoreMoment& moment() const = 0;
  // No fewer than each() shows, some of which it leaves out.
  virtual std::uint64_t values() const = 0;
  // Kind by kind, each in the order of their names. Without the owner's record, the check of the
  // store's key, the generation, and the audit log's head. Error: a value does not decrypt, or what
  // `see` says.
  virtual Result<void> each(const SeeValue& see) = 0;
};

}  // namespace tkdc
