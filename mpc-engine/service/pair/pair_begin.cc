// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_begin.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "base/machine.h"

namespace tkdc {
namespace {

using pair::EndedBy;
using pair::Label;

constexpr std::size_t kCountBytes = 33;
// Of what ordinary reservations may take: with less than the first a pool is retired, and another
// one is made when a session begins; with less than the second the session ends for it; with less
// than the third its keys move. So early, that what is left serves them until they have. At least
// some reservations' blocks.
constexpr std::uint64_t enough_for(std::uint64_t blocks) {
  return std::max<std::uint64_t>(blocks / 8 * 3, 256);
}
constexpr std::uint64_t least_of(std::uint64_t blocks) {
  return std::max<std::uint64_t>(blocks / 4, 128);
}
constexpr std::uint64_t poor_below(std::uint64_t blocks) {
  return std::max<std::uint64_t>(blocks / 8, 64);
}

// Of a pool: what ordinary reservations may still take.
std::uint64_t left_of(std::uint64_t next, std::uint64_t blocks) {
  const std::uint64_t ordinary = blocks - pair::kept_for_moving(blocks);
  return next >= ordinary ? 0 : ordinary - next;
}

Bytes context_of(const PairBeginning& of, std::uint8_t purpose) {
  static constexpr char kLabel[] = "tkdc pair 1";
  Bytes out(kLabel, kLabel + sizeof kLabel - 1);
  out.insert(out.end(), of.installation.begin(), of.installation.end());
  out.insert(out.end(), of.session.begin(), of.session.end());
  out.push_back(0);  // the lane
  out.push_back(purpose);
  return out;
}

Result<std::unique_ptr<pair::Session>> create_session(ot::Channel& channel, const PairBeginning& of,
                                                      std::uint8_t purpose, EndedBy& ended_by) {
  std::shared_ptr<pair::Steps> steps = of.steps ? of.steps() : nullptr;
  return pair::Session::create(channel, of.side, context_of(of, purpose), {}, &ended_by,
                               std::move(steps));
}

// What a server says of its pools.
using Counts = std::vector<PairPools::Count>;
struct Said {
  bool refreshing = false;
  Counts pools;
};

Result<Said> swap_counts(ot::Channel& channel, const Said& own) {
  Bytes out;
  Writer writer(out);
  writer.u8(static_cast<std::uint8_t>(own.pools.size()));
  writer.u8(own.refreshing ? 1 : 0);
  for (const PairPools::Count& one : own.pools) {
    writer.raw({reinterpret_cast<const std::uint8_t*>(&one.id), sizeof one.id});
    writer.u64(one.next);
    writer.u64(one.blocks);
    writer.u8(one.old ? 1 : 0);
  }
  std::uint8_t head[2] = {};
  auto done = channel.write(out);
  if (done) done = channel.read(head);
  if (!done) return done.error();
  Bytes in(kCountBytes * head[0]);
  if (auto got = channel.read(in); !got) return got.error();
  Reader reader(in);
  Said peers{head[1] != 0, Counts(head[0])};
  for (PairPools::Count& one : peers.pools) {
    std::memcpy(&one.id, reader.raw(sizeof one.id).data(), sizeof one.id);
    one.next = reader.u64();
    one.blocks = reader.u64();
    one.old = reader.u8() != 0;
  }
  return peers;
}

// Each pool once, and no number behind its last block: PairPools has no others. An old one is of a
// refresh.
Result<void> may_be(const Said& peers) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (const PairPools::Count& one : peers.pools)
    if (one.next > one.blocks || (one.old && !peers.refreshing) ||
        !seen.emplace(one.id.high, one.id.low).second)
      return fail("pool: the other server says of a pool what no store has (block " +
                  std::to_string(one.next) + " of " + std::to_string(one.blocks) +
                  ", a pool twice, or an old one without a refresh): its store is damaged, or it "
                  "is changed");
  return {};
}

Counts::iterator find(Counts& in, const PairPools::Count& one) {
  return std::ranges::find_if(in, [&](const auto& each) { return each.id == one.id; });
}

// Which pools are old, as both see it from here on. Under way at one of them alone, it makes all
// old.
Result<void> age(Said& own, Said& peers, PairPools& pools) {
  if (!own.refreshing && !peers.refreshing) return {};
  const bool all = own.refreshing != peers.refreshing;
  for (PairPools::Count& one : peers.pools) one.old = one.old || all;
  std::vector<Label> old;
  for (PairPools::Count& one : own.pools) {
    const auto other = find(peers.pools, one);
    one.old = one.old || all || (other != peers.pools.end() && other->old);
    if (other != peers.pools.end()) other->old = one.old;
    if (one.old) old.push_back(one.id);
  }
  return pools.retire(old, wall_s());
}

// As PairPools::keep() has it.
bool is_full(const Counts& of) {
  std::size_t live = 0, old = 0;
  for (const PairPools::Count& one : of) {
    if (one.next == one.blocks) continue;
    ++live;
    if (one.old) ++old;
  }
  return live - old >= PairPools::kMost || live >= PairPools::kMostWithOld ||
         of.size() >= PairPools::kMostAll;
}

// Of those that both have, and that are not old, the one with most left; the same at both. Those
// that only this server has, and that nothing is of, go. Where no other can be made, one with few
// left, or an old one, has to do. Count kRules (pair_offer.cc) up when this changes.
Result<std::optional<Label>> best_of(const Counts& own, const Counts& peers, bool no_room,
                                     PairPools& pools) {
  const bool full = no_room || is_full(own) || is_full(peers);
  pools.is_full(full, is_full(own));
  std::vector<Label> spent;
  std::optional<Label> best;
  using Rank = std::tuple<bool, std::uint64_t, std::uint64_t, std::uint64_t>;
  Rank highest;
  for (const PairPools::Count& one : own) {
    const auto other =
        std::ranges::find_if(peers, [&](const auto& each) { return each.id == one.id; });
    if (other == peers.end() || other->blocks != one.blocks) {
      if (auto dropped = pools.drop(one.id); !dropped) return dropped.error();
      pools.is_orphan(one.id);
      continue;
    }
    if (std::max(one.next, other->next) >= one.blocks) {
      spent.push_back(one.id);
      continue;
    }
    const std::uint64_t left = left_of(std::max(one.next, other->next), one.blocks);
    if (!full && (one.old || left < enough_for(one.blocks))) continue;
    const Rank rank{!one.old, left, one.id.high, one.id.low};
    if (best && rank < highest) continue;
    best = one.id;
    highest = rank;
  }
  pools.are_spent(std::move(spent));
  return best;
}

// A number that is behind the other server's is brought up to it, on disk, before a session begins:
// so a disk that cannot be written costs blocks once, and no session after it. Where the other one
// has none left, what is left here has no use.
Result<void> catch_up(const Counts& own, const Counts& peers, PairPools& pools) {
  for (const PairPools::Count& one : own)
    for (const PairPools::Count& other : peers) {
      const bool behind = other.id == one.id && other.blocks == one.blocks &&
                          other.next > one.next &&
                          (other.next == one.blocks || other.next - one.next <= pair::kMostApart);
      if (!behind) continue;
      const auto taken = pools.take(one.id, one.next, other.next - one.next);
      if (!taken) return taken.error();
    }
  return {};
}

// Either could not keep the pool `id`: what both have serves on, without new keys.
Result<const pair::Pool*> go_on_without(const Label& id, const Result<void>& kept, const Said& own,
                                        const Said& peers, PairPools& pools) {
  const std::string why = kept ? "pool: the other server could not write its part of a new pool "
                                 "down: its journal says why"
                               : kept.error().message;
  if (auto dropped = pools.drop(id); !dropped) return dropped.error();
  pools.no_orphans();
  auto best = best_of(own.pools, peers.pools, true, pools);
  if (!best) return best.error();
  if (!*best) return fail(why);
  pools.no_room(why);
  return pools.find(**best);
}

}  // namespace

Result<void> begin_refresh(bool asked, PairPools& pools) {
  if (auto looked = pools.look_at_refresh(); !looked) return looked;
  const bool restored = pools.has_old() && !pools.refreshing();
  return asked || restored ? pools.retire_all(wall_s()) : Result<void>();
}

bool is_short(const PairPools& pools, const pair::Pool& pool) {
  for (const PairPools::Count& one : pools.counts())
    if (one.id == pool.id)
      return !pools.full() && left_of(one.next, one.blocks) < least_of(one.blocks);
  return false;
}

bool is_retired(const PairPools& pools, const Label& pool) {
  for (const PairPools::Count& one : pools.counts())
    if (one.id == pool) return one.old || left_of(one.next, one.blocks) < enough_for(one.blocks);
  return false;
}

bool is_poor(const PairPools::Count& of) {
  return left_of(of.next, of.blocks) < poor_below(of.blocks);
}

Result<const pair::Pool*> agree_on_pool(ot::Channel& channel, const PairBeginning& of,
                                        PairPools& pools, EndedBy& ended_by) {
  ended_by = EndedBy::kLink;
  Said own{pools.refreshing().has_value(), pools.counts()};
  auto peers = swap_counts(channel, own);
  if (!peers) return peers.error();
  ended_by = EndedBy::kState;
  if (auto good = may_be(*peers); !good) return good.error();
  if (auto aged = age(own, *peers, pools); !aged) return aged.error();
  pools.no_orphans();
  if (auto level = catch_up(own.pools, peers->pools, pools); !level) return level.error();
  pools.no_room("");
  auto best = best_of(own.pools, peers->pools, false, pools);
  if (!best) return best.error();
  if (*best) return pools.find(**best);
  auto session = create_session(channel, of, 1, ended_by);
  if (!session) return session.error();
  auto pool = pair::make_pool(*session, of.pool_blocks);
  if (!pool) {
    if (*session) ended_by = (*session)->ended_by();
    return pool.error();
  }
  ended_by = EndedBy::kLink;
  const Label id = pool->id;
  const auto kept = pools.keep(std::move(*pool));
  auto both = both_say(channel, kept.ok());
  if (!both) return both.error();
  ended_by = EndedBy::kState;
  if (*both) return pools.find(id);
  return go_on_without(id, kept, own, *peers, pools);
}

Result<PairMost> agree_on_most(ot::Channel& channel, const PairBeginning& of) {
  Bytes out, in(16);
  Writer writer(out);
  writer.u64(of.prepared_bytes);
  writer.u64(of.tables_bytes);
  auto done = channel.write(out);
  if (done) done = channel.read(in);
  if (!done) return done.error();
  Reader reader(in);
  PairMost most{};
  most.prepared_bytes = std::min<std::size_t>(of.prepared_bytes, reader.u64());
  most.tables_bytes = std::min<std::size_t>(of.tables_bytes, reader.u64());
  return most;
}

Result<std::unique_ptr<pair::Session>> begin_jobs(ot::Channel& channel, const PairBeginning& of,
                                                  EndedBy& ended_by) {
  return create_session(channel, of, 0, ended_by);
}

}  // namespace tkdc
