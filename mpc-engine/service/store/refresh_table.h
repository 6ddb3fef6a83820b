// SPDX-License-Identifier: Apache-2.0
// A store whose records are all replaced at once (docs/protocols/23-share-macs.md, "Refresh"): the
// new ones grow in a pair of tables of their own while the old serve, and take their place in one
// transaction.
//
//   begin      nothing of an earlier attempt is left
//   add        new records with their MACs, many in one transaction
//   prepare    they are complete; from here on commit cannot fail for want of room
//   commit     on disk the new ones are the store; from here on no record or MAC can be written
//   switch_over   and in memory: by whoever knows that no session is at work
//   give_up    an attempt has ended before prepare: what it has made goes by tidy, not with the
//   session begun_with    a session has begun with what serves: now, not before, the others are of
//   no use tidy       and go
//
// Between prepare and switch_over a crash is settled by the next handshake like that of a key: if
// any server has committed, all that have prepared do; else none (session/entries.h). Its commit()
// of the refresh's entry does commit and switch_over. A server that told the two others different
// things there could bring one to commit and the other not: they would find that their inventories
// differ. So the shares of before stay until a session has begun, and nothing is lost
// (undo_refresh()). Keys that are prepared, and not committed, are dropped by a commit.
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
  bool operator==(const RefreshState&) const = default;
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
  virtual void give_up() = 0;
  // What stands for the refresh to the epoch behind this one among entries.
  virtual EntryId entry() = 0;
  virtual void switch_over() = 0;
  // On disk when it returns: there is no way back then, whether or not tidy() comes to its end.
  virtual Result<void> begun_with() = 0;
  // Some time after it, by another thread; what fails is still due.
  virtual Result<void> tidy() = 0;
  // Back to the shares of before, where no session has begun since. For an administrator: the
  // servers' inventories differ, and the two others have these.
  virtual Result<void> undo_refresh() = 0;
};

}  // namespace tkdc
