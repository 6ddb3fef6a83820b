// SPDX-License-Identifier: Apache-2.0
// Stored blocks into bits of a session, and back: what both servers have stored of a key is what
// they compute with, or the session ends (docs/protocols/26-two-server-keys.md, "The bridge").
//
//   both   a digest of the key's name and of the block to come                    32
//   both   own blocks, and a random one of the pool, ⊕ fresh bits of the session    16 each
//   both   a coin                                                                  16
//   both   the proof (pair/proof.h)                                                48
//
// A record is bridged once in a session. Its bits are kept with the session, and serve in as many
// jobs as there are. Calls block; one thread. Secret: all of it. Error: the session's, which then
// has ended as a check that failed. Or a refusal, and it stands: before anything has been said; or
// the digests differ, which both see, and no block has been used.
#pragma once

#include <string_view>

#include "pair/inputs.h"
#include "pair/pool.h"

namespace tkdc::pair {

inline constexpr std::size_t kMostBridged = 4096;  // blocks

// Takes a block of `reserved`. Bits of all blocks in their order. `name`: the record's, its version
// and whatever else a client has told both; public.
Result<Held> bridge(Session& session, Reserved& reserved, const StoredBlocks& stored,
                    ByteSpan name);

// Some bits of it: a field of a record. Error: it has fewer.
Result<Held> part_of(const Held& held, std::size_t first, std::size_t bits);

// New blocks r under which one value is stored: d = value ⊕ r is opened, once. Two d under one r
// would give the exclusive-or of two values, so what has been taken is gone, whatever comes of it.
class Fresh {
 public:
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  Fresh(Fresh&&) = default;
  Fresh& operator=(Fresh&&) = delete;

  // r, for the pad of the circuit whose output is stored. A second time: no bits.
  HeldOnce take() { return HeldOnce(std::exchange(bits_, Held())); }
  // The value as it is stored, once d is open: bits, whole blocks. Error: another pool or length.
  Result<StoredBlocks> moved_by(const Pool& pool, std::span<const std::uint8_t> d) const;

 private:
  friend Result<Fresh> draw_fresh(Session& session, Reserved& reserved, std::size_t blocks);
  friend Result<StoredBlocks> store(Session& session, const Held& held, const Pool& pool,
                                    Fresh fresh);
  Fresh(StoredBlocks r, Held bits) : r_(std::move(r)), bits_(std::move(bits)) {}
  StoredBlocks r_;
  Held bits_;
};
// Takes blocks + 1 of `reserved`. Error: bridge()'s, and they are lost.
Result<Fresh> draw_fresh(Session& session, Reserved& reserved, std::size_t blocks);

// Stores held bits: opens d. Also from one pool into another.
Result<StoredBlocks> store(Session& session, const Held& held, const Pool& pool, Fresh fresh);

// Steps of it, which a bridge in a circuit has too. What both say of what they are about to bridge,
// public; `next`: the number of the block that it takes.
Digest digest_of_name(std::string_view label, const Label& pool, std::uint64_t next,
                      std::uint64_t blocks, ByteSpan name);
// Bits of the session, which are the blocks' if both have said what they have: own blocks ⊕ fresh
// bits, told to each other.
Result<AuthBits> enter_blocks(Session& session, const AuthBlocks& blocks);
// Copies of a pool's Δ, which outlives the session.
struct WipesStack {
  ~WipesStack() { garble::wipe_stack(); }
};

}  // namespace tkdc::pair
