// SPDX-License-Identifier: Apache-2.0
#include "pair/bridge.h"

#include <string>

#include "base/now_public.h"
#include "pair/input_check.h"

namespace tkdc::pair {
namespace {

constexpr std::string_view kNameLabel("tkdc pair, name\0", 16);
constexpr std::uint8_t kFreshName[] = {'f', 'r', 'e', 's', 'h'};

// Own blocks masked by own bits of the session.
Labels masked(const AuthBlocks& blocks, std::span<const AuthBit> drawn) {
  Labels out;
  for (std::size_t k = 0; k < blocks.size(); ++k)
    out.push_back(blocks[k].own ^ block_of(drawn.subspan(k * kBlockBits, kBlockBits)).own);
  now_public(out.data(), out.size() * kLabelBytes);
  return out;
}

// What is proved: `bits` are the session's of `blocks`.
Proved proved_of(std::span<const AuthBit> bits, const AuthBlocks& blocks, const Label& delta) {
  Proved out;
  out.in_session = blocks_of(bits);
  out.other_delta = delta;
  for (const AuthBlock& block : blocks) {
    out.other_macs.push_back(block.mac);
    out.other_keys.push_back(block.key);
  }
  return out;
}

// One to the other, and back.
template <class T>
Result<void> swap(ot::Channel& channel, const T& own, T& peers) {
  if (auto sent = channel.write_all(std::span<const T>(&own, 1)); !sent) return sent;
  return channel.read_all(std::span(&peers, 1));
}

Result<void> prove_both(Session& session, const Proved& proved) {
  const Label coin = draw_coin();
  Label peers_coin;
  Proof peers;
  auto done = swap(session.channel(), coin, peers_coin);
  if (done) done = swap(session.channel(), prove(proved, peers_coin), peers);
  if (!done) return session.end(done.error().message);
  const Found found = verify(proved, session.deltas(), coin, peers);
  if (!found.session || !found.other)
    return session.end(
        "what it has stored of a key is not what was stored: a store that was changed, "
        "or restored");
  return {};
}

}  // namespace

Digest digest_of_name(std::string_view label, const Label& pool, std::uint64_t next,
                      std::uint64_t blocks, ByteSpan name) {
  struct {
    Label pool;
    std::uint64_t next, blocks;
  } const what{pool, next, blocks};
  static_assert(sizeof what == 32);
  Digest out;
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, out.size());
  crypto_generichash_update(&state, reinterpret_cast<const std::uint8_t*>(label.data()),
                            label.size());
  crypto_generichash_update(&state, reinterpret_cast<const std::uint8_t*>(&what), sizeof what);
  crypto_generichash_update(&state, name.data(), name.size());
  crypto_generichash_final(&state, out.data(), out.size());
  return out;
}

Result<AuthBits> enter_blocks(Session& session, const AuthBlocks& blocks) {
  auto drawn = session.draw(kBlockBits * blocks.size());
  if (!drawn) return drawn.error();
  const Labels own = masked(blocks, *drawn);
  Labels peers(own.size());
  auto done = session.channel().write_all(std::span<const Label>(own));
  if (done) done = session.channel().read_all(std::span(peers));
  if (!done) return session.end(done.error().message);
  for (std::size_t k = 0; k < drawn->size(); ++k)
    (*drawn)[k] = session.deltas().moved((*drawn)[k], bit_of(own[k / kBlockBits], k % kBlockBits),
                                         bit_of(peers[k / kBlockBits], k % kBlockBits));
  return drawn;
}

Result<Held> bridge(Session& session, Reserved& reserved, const StoredBlocks& stored,
                    ByteSpan name) {
  const WipesStack wipes;
  if (auto good = session.stands(); !good) return good.error();
  if (!one_delta(reserved.pool().id, stored.pool))
    return fail("pair: blocks of one pool cannot be proved with a block of another");
  if (stored.blocks.empty() || stored.blocks.size() > kMostBridged)
    return fail("pair: " + std::to_string(stored.blocks.size()) +
                " blocks cannot be bridged at once");
  if (auto good = reserved.has(session, 1); !good) return good.error();
  auto alike = session.alike(
      digest_of_name(kNameLabel, stored.pool, reserved.next(), stored.blocks.size(), name));
  if (!alike) return alike.error();
  if (!*alike)
    return fail("pair with " + session.peer() +
                ": it has been asked for another key than this server, or is at another block: "
                "nothing was proved. Whoever asked has to ask both for the same, with blocks that "
                "both reserve anew");
  auto random = reserved.take(session, 1);
  if (!random) return random.error();
  AuthBlocks blocks = stored.blocks;
  blocks.push_back(random->blocks.front());
  auto entered = enter_blocks(session, blocks);
  if (!entered) return entered.error();
  AuthBits& bits = *entered;
  if (auto good = prove_both(session, proved_of(bits, blocks, reserved.pool().deltas.delta)); !good)
    return good.error();
  bits.resize(kBlockBits * stored.blocks.size());
  return Held{session.id(), std::move(bits)};
}

Result<Held> part_of(const Held& held, std::size_t first, std::size_t bits) {
  if (first > held.bits.size() || bits > held.bits.size() - first)
    return fail("pair: " + std::to_string(bits) + " bits behind " + std::to_string(first) + " of " +
                std::to_string(held.bits.size()));
  const auto from = std::span(held.bits).subspan(first, bits);
  return Held{held.session, AuthBits(from.begin(), from.end())};
}

Result<Fresh> draw_fresh(Session& session, Reserved& reserved, std::size_t blocks) {
  auto r = reserved.take(session, blocks);
  if (!r) return r.error();
  auto bits = bridge(session, reserved, *r, kFreshName);
  if (!bits) return bits.error();
  return Fresh(std::move(*r), std::move(*bits));
}

Result<StoredBlocks> Fresh::moved_by(const Pool& pool, std::span<const std::uint8_t> d) const {
  const WipesStack wipes;
  if (!one_delta(pool.id, r_.pool)) return fail("pair: blocks of another pool");
  if (d.size() != kBlockBits * r_.blocks.size())
    return fail("pair: " + std::to_string(d.size()) + " bits cannot be stored under " +
                std::to_string(r_.blocks.size()) + " blocks");
  StoredBlocks out = r_;
  const Labels by = elements_of(d);
  for (std::size_t k = 0; k < out.blocks.size(); ++k) {
    AuthBlock& block = out.blocks[k];
    if (pool.deltas.side == Side::kGarbler)
      block.own = block.own ^ by[k];
    else
      block.key = block.key ^ ot::field().product(by[k], pool.deltas.delta);
  }
  return out;
}

Result<StoredBlocks> store(Session& session, const Held& held, const Pool& pool, Fresh fresh) {
  const Held r = std::exchange(fresh.bits_, Held());
  if (!session.is(held.session) || !session.is(r.session))
    return fail("pair: bits of another session");
  // Asked before a word is said.
  if (auto fits = fresh.moved_by(pool, Bits(held.bits.size())); !fits) return fits.error();
  AuthBits sums;
  for (std::size_t k = 0; k < held.bits.size(); ++k) sums.push_back(held.bits[k] ^ r.bits[k]);
  auto opened = session.open(sums);
  if (!opened) return opened.error();
  for (std::size_t k = 0; k < sums.size(); ++k)
    (*opened)[k] ^= static_cast<std::uint8_t>(sums[k].own());
  return fresh.moved_by(pool, *opened);
}

}  // namespace tkdc::pair
