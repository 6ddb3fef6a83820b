// SPDX-License-Identifier: Apache-2.0
// Stored blocks into bits of a session, and back: what both servers have stored of a key is what
// they compute with, or the session ends (docs/protocols/26-two-server-keys.md, "The bridge").
//
//   both   own blocks, and a random one of the pool, ⊕ fresh bits of the session    16 each
//   both   a coin                                                                  16
//   both   the proof (pair/proof.h)                                                48
//
// A record is bridged once in a session. Its bits are kept with the session, and serve in as many
// jobs as there are. Calls block; one thread. Secret: all of it. Error: the session's, which then
// has ended as a check that failed; or a refusal before anything has been said.
#pragma once

#include "pair/inputs.h"
#include "pair/pool.h"

namespace tkdc::pair {

inline constexpr std::size_t kMostBridged = 4096;  // blocks

// Takes a block of `reserved`. Bits of all blocks in their order.
Result<Held> bridge(Session& session, Reserved& reserved, const StoredBlocks& stored);

// Some bits of it: a field of a record.
Held part_of(const Held& held, std::size_t first, std::size_t bits);

// r ⊕ d as it is stored, for a d that both know: bits, whole blocks.
StoredBlocks moved(const Pool& pool, const StoredBlocks& r, std::span<const std::uint8_t> d);

// Stores held bits: opens d = held ⊕ r. `r`: fresh blocks of the pool, `bridged` the same in this
// session. Also from one pool into another.
Result<StoredBlocks> store(Session& session, const Held& held, const Pool& pool,
                           const StoredBlocks& r, const Held& bridged);

}  // namespace tkdc::pair
