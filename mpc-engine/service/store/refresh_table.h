// SPDX-License-Identifier: Apache-2.0
// A store whose records are all replaced at once (docs/protocols/23-share-macs.md, "Refresh"): the
// new ones grow in a table of their own while the old serve, and take their place in one
// transaction.
//
//   begin     nothing of an earlier attempt is left
//   add       new records with their MACs, many in one transaction
//   prepare   they are complete; from here on commit() cannot fail for want of room
//   commit    on disk the new ones are the store
//   switch_over   and in memory: by whoever knows that no session is at work
//
// The next handshake does both by Entries::commit() of entry().
//
// Between prepare() and switch_over() a crash is settled by the next handshake like that of a key:
// if any server has committed, all do; else none (session/entries.h). Keys that are prepared, and
// not committed, are dropped by a commit: their shares are of before.
//
// Any thread; one refresh at a time.
#pragma once

#include <span>

#include "service/store/mac_table.h"
#include "session/entries.h"

namespace tkdc {

struct RefreshState {
  std::uint32_t epoch = 0;  // how many refreshes this store has been through
  std::uint64_t at_s = 0;   // Unix time of the last one; 0: none
};

struct RefreshedKey {
  KeyRecord record;
  MacRow macs;
};

class RefreshTable {
 public:
  virtual ~RefreshTable() = default;

  virtual RefreshState state() = 0;
  virtual Result<void> begin() = 0;
  virtual Result<void> add(std::span<const RefreshedKey> keys) = 0;
  // Error: they are not as many as the committed records.
  virtual Result<void> prepare_refresh(std::uint64_t at_s) = 0;
  virtual Result<void> commit_refresh() = 0;
  virtual Result<void> abandon_refresh() = 0;
  // What stands for the refresh to the epoch behind this one among entries.
  virtual EntryId entry() = 0;
  virtual void switch_over() = 0;
};

}  // namespace tkdc
