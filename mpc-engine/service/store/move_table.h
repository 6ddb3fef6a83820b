// SPDX-License-Identifier: Apache-2.0
// Committed records that are replaced by others of the same key, some at a time: those of two
// servers, whose blocks move into another pool.
//
//   prepare   the new ones are on disk beside the old, which serve still
//   commit    in one transaction they take their place (Store::commit() of entry())
//   abandon   they go (Store::abandon())
//
// A move of no record ends a refresh: it raises the refresh epoch (refresh_table.h), and takes
// away that one is under way (kept_values.h).
//
// What is prepared is one entry, which a crash leaves half done and the next handshake settles
// like that of a key (session/entries.h). Each has a number, larger than those of before at either
// server: committed() of an entry says whether this store has come to its number.
//
// Any thread; one move at a time. Secret: the records.
#pragma once

#include <span>

#include "service/store/record.h"
#include "session/entries.h"

namespace tkdc {

class MoveTable {
 public:
  static constexpr std::size_t kMostMoved = 1024;  // at once

  virtual ~MoveTable() = default;

  // Of the last one that was committed; 0: none yet. Error: it cannot be read.
  virtual Result<std::uint32_t> last_move() = 0;
  // Each is the next version of a record that is committed. Error also: another is prepared, or the
  // number is none of a later move. Nothing has changed then.
  virtual Result<void> prepare_move(std::uint32_t number, std::span<const KeyRecord> records) = 0;
  // `since_s`: since when the refresh was under way, Unix time. Its time, once it is committed.
  virtual Result<void> prepare_refreshed(std::uint32_t number, std::uint64_t since_s) = 0;
  virtual EntryId move_entry(std::uint32_t number) = 0;
};

}  // namespace tkdc
