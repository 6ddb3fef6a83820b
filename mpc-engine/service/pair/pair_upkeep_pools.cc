// SPDX-License-Identifier: Apache-2.0
// Pools that go: what records name of them is read first, a page at a time.
#include <cstring>

#include "service/pair/pair_upkeep.h"

namespace tkdc {
namespace {

constexpr int kPagesAtOnce = 2;  // while the other server waits

}  // namespace

// All of a small store. Of a large one the rest is read between jobs.
void PairUpkeep::read_some() {
  for (int k = 0; k < kPagesAtOnce && !census_.is_done(); ++k) census_.step();
}

bool PairUpkeep::read_on() {
  if (census_.is_done() || (!census_.has_begun() && orphans_.empty())) return false;
  census_.step();
  look_at_orphans();
  return true;
}

// Nothing is of it, here: neither committed, nor half made, nor staged. False also where the store
// has not been read yet.
bool PairUpkeep::may_be_erased(const pair::Label& pool) {
  shared_.staged.expire({});
  std::array<std::uint8_t, 16> id{};
  std::memcpy(id.data(), &pool, sizeof pool);
  if (pool == at_work_.blocks.pool().id || shared_.staged.has_of_pool(id)) return false;
  auto half_made = shared_.store.prepared();
  if (!half_made || !half_made->empty()) return false;
  const auto* named = census_.found();
  return named != nullptr && !named->contains(id_of(pool));
}

// At the other one. What it has found may be out of date: then it reads again, and says so later.
bool PairUpkeep::has_gone(const pair::Label& pool) {
  for (int k = 0; k < 2; ++k) {
    read_some();
    if (!census_.is_done() || may_be_erased(pool)) break;
    census_.forget();
  }
  return may_be_erased(pool);
}

Result<void> PairUpkeep::erase(const pair::Label& pool) {
  const bool old = at_work_.pools.is_old(pool);
  at_work_.blocks.forget(pool);
  const Result<void> erased = at_work_.pools.erase(pool);
  auto both = both_say(at_work_.session.channel(), erased.ok());
  if (!both) return lost(both.error());
  if (*both) {
    went_on();
    return {};
  }
  not_erased(erased ? "the other server could not remove a pool: its journal says why"
                    : "a pool that nothing is of could not be removed: " + erased.error().message,
             old);
  return {};
}

// The next session tries again (begin()).
void PairUpkeep::not_erased(const std::string& why, bool old) {
  tell(why);
  if (!old) return;
  refreshes_ = false;
  refresh_.failed(why);
}

// No crash leaves keys of a pool that one alone has.
void PairUpkeep::tell_of_orphan(const pair::Label& pool) const {
  const auto* named = census_.found();
  if (named == nullptr || !named->contains(id_of(pool))) return;
  tell(std::to_string(named->at(id_of(pool))) +
       " keys do not serve: they are of a pool that the other server says it has not. Restart one "
       "server first. If it says so again, the two stores are not of one history, or the other "
       "server was changed: find out which before backups of one time are put back at both");
}

void PairUpkeep::look_at_orphans() {
  if (!census_.is_done()) return;
  for (const pair::Label& pool : std::exchange(orphans_, {})) {
    if (!may_be_erased(pool)) {
      tell_of_orphan(pool);
      continue;
    }
    const bool old = at_work_.pools.is_old(pool);
    auto erased = at_work_.pools.erase(pool);
    if (erased) continue;
    ends_refresh_ = ends_refresh_ || old;  // which tells the other one
    not_erased("a pool that nothing is of could not be removed: " + erased.error().message, old);
  }
}

Result<void> PairUpkeep::erase_next() {
  PairOrder order;
  order.kind = PairOrder::Kind::kErase;
  order.pool = to_erase_.back();
  to_erase_.pop_back();
  if (!may_be_erased(order.pool)) return {};
  ot::Channel& channel = at_work_.session.channel();
  std::uint8_t there = 0;
  auto done = say(channel, order);
  if (done) done = channel.read({&there, 1});
  if (!done) return lost(done.error());
  if (there > 1) return at_work_.session.end("it says neither yes nor no");
  if (there == 1) return erase(order.pool);
  refused_ = true;
  sweeps_again_ = SteadyClock::now() + shared_.options.pair_refresh_again;
  return {};
}

}  // namespace tkdc
