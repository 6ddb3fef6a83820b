// SPDX-License-Identifier: Apache-2.0
#include "pair/pool.h"

#include <algorithm>
#include <string>

#include "pair/input_check.h"

namespace tkdc::pair {
namespace {

// What a party says of a reservation.
struct Wish {
  Label pool;
  std::uint64_t next, blocks;
};
static_assert(sizeof(Wish) == 32);

std::string apart(const Session& session, std::uint64_t own, std::uint64_t peers) {
  return "of this pool " + std::to_string(own) + " blocks have been used here and " +
         std::to_string(peers) + " there: a store that was restored has to be told so at " +
         (own < peers ? "this server" : session.peer()) + " before it serves again";
}

// The first block of the reservation.
Result<std::uint64_t> first_block(Session& session, const Wish& own, const Wish& peers) {
  if (!session.is_same(own.pool, peers.pool) || own.blocks != peers.blocks)
    return session.end("it reserves blocks of another pool", EndedBy::kState);
  const auto [low, high] = std::minmax(own.next, peers.next);
  if (high - low > kMostApart)
    return session.end(apart(session, own.next, peers.next), EndedBy::kState);
  return first_of(own.next, peers.next);
}

// Whether the pool has them for this.
Result<void> has_left(const Pool& pool, std::uint64_t first, std::size_t blocks, For what) {
  const std::size_t all = pool.blocks.size();
  const std::size_t kept = what == For::kMoving ? 0 : kept_for_moving(all);
  if (first <= all - kept && blocks <= all - kept - first) return {};
  const std::string made = "pair: of this pool " + std::to_string(all) +
                           " blocks have been made, and both servers together are at number " +
                           std::to_string(first) + ": ";
  if (what == For::kMoving)
    return fail(made +
                "all are used, and its keys serve only in sessions that have them already: "
                "make another pool, and import what these keys were again");
  return fail(made + "its last " + std::to_string(kept) +
              " are for keys that move. Make another pool, and move its keys there");
}

// Whether both say yes.
Result<bool> said_by_both(Session& session, bool own) {
  const auto word = static_cast<std::uint8_t>(own);
  std::uint8_t peers = 0;
  auto done = session.channel().write({&word, 1});
  if (done) done = session.channel().read({&peers, 1});
  if (!done) return session.end(done.error().message);
  if (peers > 1) return session.end("it says neither yes nor no");
  return own && peers == 1;
}

}  // namespace

Result<Pool> make_pool(std::unique_ptr<Session>& session, std::size_t blocks) {
  constexpr std::size_t kAtOnce = 1024;
  if (session->drawn() != 0)
    return fail("pair: a pool's session makes nothing else, and this one has drawn " +
                std::to_string(session->drawn()) + " bits");
  Pool out{session->id(), session->deltas(), {}};
  out.blocks.reserve(blocks);
  AuthBits bits(kBlockBits * std::min(kAtOnce, blocks));
  while (out.blocks.size() < blocks) {
    const std::size_t now = std::min(kAtOnce, blocks - out.blocks.size());
    const auto some = std::span(bits).first(kBlockBits * now);
    if (auto drawn = session->draw(some); !drawn) return drawn.error();
    for (std::size_t k = 0; k < now; ++k)
      out.blocks.push_back(block_of(some.subspan(kBlockBits * k, kBlockBits)));
  }
  // Neither has it before the other one's checks have ended well.
  auto met = said_by_both(*session, true);
  if (!met) return met.error();
  if (!*met) return session->end("it has not made this pool", EndedBy::kState);
  session.reset();
  return out;
}

Result<void> Reserved::has(const Session& session, std::size_t blocks) const {
  if (!session.is(session_)) return fail("pair: blocks that another session has reserved");
  if (blocks > left())
    return fail("pair: " + std::to_string(left()) + " blocks are reserved, and " +
                std::to_string(blocks) + " are to be used");
  return {};
}

Result<StoredBlocks> Reserved::take(const Session& session, std::size_t blocks) {
  if (auto good = has(session, blocks); !good) return good.error();
  AuthBlock* first = blocks_.data() + (blocks_.size() - left());
  StoredBlocks out{pool_->id, AuthBlocks(first, first + blocks)};
  sodium_memzero(first, blocks * sizeof *first);
  next_ += blocks;
  return out;
}

Result<Reserved> reserve(Session& session, const Pool& pool, PoolPosition& position,
                         std::size_t blocks, For what) {
  if (auto good = session.stands(); !good) return good.error();
  if (blocks > kMostReserved)
    return fail("pair: " + std::to_string(blocks) + " blocks are more than are reserved at once");
  auto next = position.next(pool.id);
  if (!next) return session.end(next.error().message, EndedBy::kState);
  const Wish own{pool.id, *next, blocks};
  Wish peers;
  auto done = session.channel().write_all(std::span<const Wish>(&own, 1));
  if (done) done = session.channel().read_all(std::span(&peers, 1));
  if (!done) return session.end(done.error().message);
  auto first = first_block(session, own, peers);
  if (!first) return first.error();
  // The other one's word took its time: another session may have taken these blocks meanwhile.
  const auto left = has_left(pool, *first, blocks, what);
  AuthBlocks own_blocks;
  if (left) {
    const auto from = pool.blocks.begin() + static_cast<std::ptrdiff_t>(*first);
    own_blocks.assign(from, from + static_cast<std::ptrdiff_t>(blocks));
  }
  const auto taken = left ? position.take(pool.id, *first, blocks) : left.error();
  auto both = said_by_both(session, taken && *taken);
  if (!both) return both.error();
  if (!taken) return taken.error();
  if (!*both)
    return fail("pair: these blocks were not taken at both servers: to be reserved again");
  return Reserved(session.id(), pool, *first, std::move(own_blocks));
}

}  // namespace tkdc::pair
