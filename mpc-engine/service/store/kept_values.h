// SPDX-License-Identifier: Apache-2.0
// Which of the named values (value_table.h) a backup holds, and what a restore makes of them.
//
//   pool/ID/head      a pool of two servers: which side, and whether it is old 1, how many
//                     blocks 8, Δ 16. In a backup
//   pool/ID/next      number of its first block that was not used 8. Restored: that of blocks
//   pool/ID/XXXX      blocks. In no backup: each serves once, and a store that was restored would
//                     use it a second time
//   pool/mark         the audit log's head, once the server has stopped in good order 40. In no
//                     backup (service/server/pool_mark.h)
//   pool/refresh      since when a refresh is under way 8. In no backup: old pools say so, too
//   pool/refreshed    when the last refresh ended 8. In no backup: one of then is newer
//   move/state        numbers of moves (record_store_move.cc). In a backup; restored, none is
//                     prepared
//   move/ID           a record that moves. In a backup, and not restored: its move's number may
//                     have been another one's since
//   move/refreshed    the end of a refresh, since when it was under way 8. As move/ID
//
// Nothing in it is secret but Δ.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/codec.h"
#include "service/store/value_table.h"

namespace tkdc::kept {

inline constexpr std::string_view kPool = "pool/", kHead = "/head", kNext = "/next";
inline constexpr std::string_view kMark = "pool/mark", kRefreshing = "pool/refresh",
                                  kRefreshEnded = "pool/refreshed";
inline constexpr std::string_view kMove = "move/", kMoveState = "move/state",
                                  kMoveRefreshed = "move/refreshed";
inline constexpr std::size_t kHeadBytes = 1 + 8 + 16, kIdDigits = 32, kMoveStateBytes = 4 + 4;
inline constexpr std::size_t kSinceBytes = 8;

inline bool is_head(std::string_view name) {
  return name.size() == kPool.size() + kIdDigits + kHead.size() && name.starts_with(kPool) &&
         name.ends_with(kHead);
}
// The name of its number.
inline std::string next_of(std::string_view head) {
  return std::string(head.substr(0, head.size() - kHead.size())) + std::string(kNext);
}
inline std::uint64_t blocks_of(ByteSpan head) { return Reader(head.subspan(1)).u64(); }
inline constexpr std::uint8_t kOld = 0x80;  // beside the side
inline bool is_old(ByteSpan head) { return (head[0] & kOld) != 0; }
inline ByteSpan delta_of(ByteSpan head) { return head.subspan(kHeadBytes - 16, 16); }

inline bool is_kept(std::string_view name) { return is_head(name) || name.starts_with(kMove); }
// Of a pool, and not kept.
inline bool is_left_out(std::string_view name) { return name.starts_with(kPool) && !is_head(name); }

// No block of any pool may be used any more. Of how many pools some might.
Result<std::size_t> give_up_blocks(ValueTable& values);

// Where there are pools at all.
Result<void> put_mark(ValueTable& values, ByteSpan mark);
// Whether it is this one. There is none any more.
Result<bool> take_mark(ValueTable& values, ByteSpan mark);

}  // namespace tkdc::kept
