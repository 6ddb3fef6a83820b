// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_begin.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace tkdc {
namespace {

using pair::EndedBy;
using pair::Label;

constexpr std::size_t kCountBytes = 32;
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

Result<std::vector<PairPools::Count>> swap_counts(ot::Channel& channel,
                                                  const std::vector<PairPools::Count>& own) {
  Bytes out;
  Writer writer(out);
  writer.u8(static_cast<std::uint8_t>(own.size()));
  for (const PairPools::Count& one : own) {
    writer.raw({reinterpret_cast<const std::uint8_t*>(&one.id), sizeof one.id});
    writer.u64(one.next);
    writer.u64(one.blocks);
  }
  std::uint8_t count = 0;
  auto done = channel.write(out);
  if (done) done = channel.read({&count, 1});
  if (!done) return done.error();
  Bytes in(kCountBytes * count);
  if (auto got = channel.read(in); !got) return got.error();
  Reader reader(in);
  std::vector<PairPools::Count> peers(count);
  for (PairPools::Count& one : peers) {
    std::memcpy(&one.id, reader.raw(sizeof one.id).data(), sizeof one.id);
    one.next = reader.u64();
    one.blocks = reader.u64();
  }
  return peers;
}

// Each pool once, and no number behind its last block: PairPools has no others.
Result<void> may_be(const std::vector<PairPools::Count>& peers) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (const PairPools::Count& one : peers)
    if (one.next > one.blocks || !seen.emplace(one.id.high, one.id.low).second)
      return fail("pool: the other server says of a pool what no store has (block " +
                  std::to_string(one.next) + " of " + std::to_string(one.blocks) +
                  ", or a pool twice): its store is damaged, or it is changed");
  return {};
}

std::size_t live_of(const std::vector<PairPools::Count>& of) {
  return static_cast<std::size_t>(
      std::ranges::count_if(of, [](const PairPools::Count& one) { return one.next < one.blocks; }));
}

// Of those that both have, the one with most left; the same at both. Those that only this server
// has, and that nothing is of, go. Count kRules (pair_offer.cc) up when this changes.
Result<std::optional<Label>> best_of(const std::vector<PairPools::Count>& own,
                                     const std::vector<PairPools::Count>& peers, PairPools& pools) {
  const bool full = std::max(live_of(own), live_of(peers)) >= PairPools::kMost ||
                    std::max(own.size(), peers.size()) >= PairPools::kMostAll;
  pools.is_full(full);
  std::vector<Label> spent;
  std::optional<Label> best;
  std::uint64_t most = 0;
  std::pair<std::uint64_t, std::uint64_t> first{};
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
    const std::pair<std::uint64_t, std::uint64_t> number{one.id.high, one.id.low};
    const bool enough = full || left >= enough_for(one.blocks);
    if (!enough || (best && (left < most || (left == most && number < first)))) continue;
    best = one.id;
    most = left;
    first = number;
  }
  pools.are_spent(std::move(spent));
  return best;
}

// A number that is behind the other server's is brought up to it, on disk, before a session begins:
// so a disk that cannot be written costs blocks once, and no session after it. Where the other one
// has none left, what is left here has no use.
Result<void> catch_up(const std::vector<PairPools::Count>& own,
                      const std::vector<PairPools::Count>& peers, PairPools& pools) {
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

}  // namespace

bool is_short(const PairPools& pools, const pair::Pool& pool) {
  for (const PairPools::Count& one : pools.counts())
    if (one.id == pool.id)
      return !pools.full() && left_of(one.next, one.blocks) < least_of(one.blocks);
  return false;
}

bool is_retired(const PairPools& pools, const Label& pool) {
  for (const PairPools::Count& one : pools.counts())
    if (one.id == pool) return left_of(one.next, one.blocks) < enough_for(one.blocks);
  return false;
}

bool is_poor(const PairPools::Count& of) {
  return left_of(of.next, of.blocks) < poor_below(of.blocks);
}

Result<const pair::Pool*> agree_on_pool(ot::Channel& channel, const PairBeginning& of,
                                        PairPools& pools, EndedBy& ended_by) {
  ended_by = EndedBy::kLink;
  const std::vector<PairPools::Count> own = pools.counts();
  auto peers = swap_counts(channel, own);
  if (!peers) return peers.error();
  ended_by = EndedBy::kState;
  if (auto good = may_be(*peers); !good) return good.error();
  pools.no_orphans();
  if (auto level = catch_up(own, *peers, pools); !level) return level.error();
  auto best = best_of(own, *peers, pools);
  if (!best) return best.error();
  if (*best) return pools.find(**best);
  auto session = pair::Session::create(channel, of.side, context_of(of, 1), {}, &ended_by);
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
  if (!kept) return kept.error();
  if (!*both)
    return fail(
        "pool: the other server could not write its part of a new pool down: its journal "
        "says why");
  return pools.find(id);
}

Result<std::size_t> agree_on_prepared(ot::Channel& channel, const PairBeginning& of) {
  Bytes out, in(8);
  Writer(out).u64(of.prepared_bytes);
  auto done = channel.write(out);
  if (done) done = channel.read(in);
  if (!done) return done.error();
  return std::min<std::size_t>(of.prepared_bytes, Reader(in).u64());
}

Result<std::unique_ptr<pair::Session>> begin_jobs(ot::Channel& channel, const PairBeginning& of,
                                                  EndedBy& ended_by) {
  return pair::Session::create(channel, of.side, context_of(of, 0), {}, &ended_by);
}

}  // namespace tkdc
