// SPDX-License-Identifier: Apache-2.0
// A pool: random blocks of both servers that are authenticated under a long-lived Δ of each, for
// keys and for bridges (docs/protocols/26-two-server-keys.md, "Pools").
//
// A pool is what remains of a session that has made nothing else: its Δ has been in one extension,
// which has ended, and is never in another. Both keep their part of it in their stores.
//
// Each block serves once. Each server keeps the number of the first block that it has not used, one
// for all its sessions. It takes blocks under a lock, and the number is on disk before anything
// that follows from them may leave it. It never takes a lower number from the other one; a higher
// one it takes within limits, since both use the same blocks.
//
//   reserve, both   id of the pool, own number, how many blocks: 32 octets
//                   whether they are taken: 1 octet
//
// Calls block; one thread for each session, and as many sessions of a pool as there are: its
// counter decides between them. Secret: Δ and blocks. Error: the session's; where it still stands,
// nothing has been reserved.
#pragma once

#include "pair/auth_block.h"
#include "pair/session.h"

namespace tkdc::pair {

// Which blocks of a pool are a record's value, or another's: of which pool, under which Δ.
struct StoredBlocks {
  Label pool;  // its id; public
  AuthBlocks blocks;
};

struct Pool {
  Label id;  // public
  Deltas deltas;
  AuthBlocks blocks;
};

// `session` has drawn nothing yet, and is gone then. Error: its own, and it is still there to be
// asked what ended it; also that the peer has not got its part.
Result<Pool> make_pool(std::unique_ptr<Session>& session, std::size_t blocks);

// Numbers of the first block of each pool that has not been used, on this server's disk. One for
// all sessions of a pool, from any thread.
class PoolPosition {
 public:
  virtual ~PoolPosition() = default;
  virtual Result<std::uint64_t> next(const Label& pool) = 0;
  // Whether nobody has taken a block from `first` on. Then first + blocks is the number, on disk
  // when it returns, and it is nobody else's: looking and writing are one step. Else nothing
  // changes. Who keeps the pool may wipe what has been taken: a reservation has copied its own.
  virtual Result<bool> take(const Label& pool, std::uint64_t first, std::uint64_t blocks) = 0;
};

// What blocks are for. A key that moves into another pool takes one of this pool, for its bridge:
// so the last ones serve for nothing else, and no key is lost by an ordinary reservation.
enum class For : std::uint8_t { kUse, kMoving };
constexpr std::size_t kept_for_moving(std::size_t blocks) { return (blocks + 15) / 16; }

inline constexpr std::size_t kMostReserved = 256;  // at once
// How far apart the numbers of both may be: what sixteen reservations leave that one of both could
// not write down.
inline constexpr std::uint64_t kMostApart = 16 * kMostReserved;

// Blocks that this session uses, in their order. What is left of them when it ends is lost.
class Reserved {
 public:
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  Reserved(Reserved&& from) noexcept
      : session_(from.session_), pool_(from.pool_), next_(from.next_),
        end_(std::exchange(from.end_, from.next_)), blocks_(std::move(from.blocks_)) {}
  Reserved& operator=(Reserved&&) = delete;

  const Pool& pool() const { return *pool_; }
  std::size_t left() const { return end_ - next_; }
  std::uint64_t next() const { return next_; }  // number of the next block
  // Whether there are so many, for this session.
  Result<void> has(const Session& session, std::size_t blocks) const;
  // The next ones: a new random key, a mask for something that is to be stored. Error: not enough
  // are left, or another session.
  Result<StoredBlocks> take(const Session& session, std::size_t blocks);

 private:
  friend Result<Reserved> reserve(Session& session, const Pool& pool, PoolPosition& position,
                                  std::size_t blocks, For what);
  Reserved(const Label& session, const Pool& pool, std::size_t first, AuthBlocks blocks)
      : session_(session), pool_(&pool), next_(first), end_(first + blocks.size()),
        blocks_(std::move(blocks)) {}

  Label session_;
  const Pool* pool_;  // outlives it
  std::size_t next_, end_;
  AuthBlocks blocks_;  // up to the number end_: the pool may have lost them when they were taken
};

// Both call it alike. Error also: the two numbers are too far apart. Error, and the session stands:
// the pool is used up; or either could not write its number down, or has taken these blocks in
// another session meanwhile: then both call it again.
Result<Reserved> reserve(Session& session, const Pool& pool, PoolPosition& position,
                         std::size_t blocks, For what = For::kUse);

}  // namespace tkdc::pair
