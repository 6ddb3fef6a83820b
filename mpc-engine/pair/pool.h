// SPDX-License-Identifier: Apache-2.0
// A pool: random blocks of both servers that are authenticated under a long-lived Δ of each, for
// keys and for bridges (docs/protocols/26-two-server-keys.md, "Pools").
//
// A pool is what remains of a session that has made nothing else: its Δ has been in one extension,
// which has ended, and is never in another. Both keep their part of it in their stores.
//
// Each block serves once. Each server keeps the number of the first block that it has not used,
// and raises it on disk before anything that follows from the next blocks may leave it. It never
// takes a lower number from the other one; a higher one it takes within limits, since both use the
// same numbers.
//
//   reserve, both   id of the pool, own number, how many blocks: 32 octets
//
// Calls block; one thread. Secret: Δ and blocks. Error: the session's, or the counter's.
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

// The session ends with it. Error also: its peer has not got its part.
Result<Pool> make_pool(std::unique_ptr<Session> session, std::size_t blocks);

// The number of a pool's first block that has not been used, on this server's disk.
class PoolPosition {
 public:
  virtual ~PoolPosition() = default;
  virtual Result<std::uint64_t> next() = 0;
  // On disk when it returns. No lower number than before.
  virtual Result<void> raise(std::uint64_t next) = 0;
};

inline constexpr std::size_t kMostReserved = 4096;  // at once
// How far apart the numbers of both may be: by what a crash in a reservation leaves, and no more.
inline constexpr std::uint64_t kMostApart = kMostReserved;

// Blocks that this session uses, in their order. What is left of them when it ends is lost.
class Reserved {
 public:
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  Reserved(Reserved&& from) noexcept
      : session_(from.session_), pool_(from.pool_), next_(from.next_),
        end_(std::exchange(from.end_, from.next_)) {}
  Reserved& operator=(Reserved&&) = delete;

  const Pool& pool() const { return *pool_; }
  std::size_t left() const { return end_ - next_; }
  // The next ones: a new random key, a mask for something that is to be stored. Error: not enough
  // are left, or another session.
  Result<StoredBlocks> take(const Session& session, std::size_t blocks);

 private:
  friend Result<Reserved> reserve(Session& session, const Pool& pool, PoolPosition& position,
                                  std::size_t blocks);
  Reserved(const Label& session, const Pool& pool, std::size_t first, std::size_t count)
      : session_(session), pool_(&pool), next_(first), end_(first + count) {}

  Label session_;
  const Pool* pool_;  // outlives it
  std::size_t next_, end_;
};

// Both call it alike. Error also: the pool is used up; the two numbers are too far apart.
Result<Reserved> reserve(Session& session, const Pool& pool, PoolPosition& position,
                         std::size_t blocks);

}  // namespace tkdc::pair
