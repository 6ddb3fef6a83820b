// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_refresh.h"

#include <algorithm>
#include <cstring>

#include "base/hex.h"

namespace tkdc {

// What is staged of an old pool cannot be bound any more, and would keep it.
void PairRefresh::drop_staged() {
  for (const PairPools::Count& pool : at_work_.pools.counts()) {
    if (!pool.old) continue;
    std::array<std::uint8_t, 16> id{};
    std::memcpy(id.data(), &pool.id, sizeof pool.id);
    shared_.staged.erase_of_pool(id);
  }
}

void PairRefresh::begin() {
  if (!under_way()) return;
  drop_staged();
  keys_ = shared_.store.count();
  shared_.upkeep.begun(ShareTask::kRefresh, keys_);
  done_ = 0;
}

// Those that have moved in sessions of before.
void PairRefresh::are_left(std::size_t keys) {
  if (done_ == 0) moved(keys_ - std::min<std::uint64_t>(keys_, keys));
}

void PairRefresh::moved(std::size_t keys) {
  if (!under_way()) return;
  ShareUpkeepStatus more;
  more.looked_at = std::min<std::uint64_t>(keys, keys_ - done_);  // some were made meanwhile
  done_ += more.looked_at;
  shared_.upkeep.page(more);
}

void PairRefresh::failed(const std::string& why) {
  if (under_way()) shared_.upkeep.ended(why);
}

PairRefresh::Left PairRefresh::left(const PairCensus& census, std::uint32_t next_move,
                                    std::uint32_t& number) {
  number = 0;
  left_ = 0;
  if (!under_way() || !census.is_done()) return Left::kPools;
  if (census.found() == nullptr) return Left::kUnknown;
  for (const auto& [id, keys] : *census.found()) {
    const pair::Label pool{id.second, id.first};
    if (at_work_.pools.is_old(pool) || at_work_.pools.find(pool) == nullptr) left_ += keys;
  }
  if (left_ > 0) return Left::kKeys;
  if (at_work_.pools.has_old()) return Left::kPools;
  number = next_move;
  return number == 0 ? Left::kUnknown : Left::kNothing;
}

PairRefresh::Outcome PairRefresh::concluded(Left own, Left peers) {
  if (own == Left::kNothing && peers == Left::kNothing) return Outcome::kEnded;
  return std::max(own, peers) > Left::kPools ? Outcome::kFailed : Outcome::kGoesOn;
}

std::string PairRefresh::why_not(Left own, Left peers) const {
  if (!at_work_.pools.no_room().empty())
    return "the refresh cannot go on without room for a new pool: " + at_work_.pools.no_room();
  if (at_work_.pools.is_old(at_work_.blocks.pool().id))
    return "the refresh cannot go on: " +
           std::string(at_work_.pools.full_here() ? "this server keeps"
                                                  : "the other server says that it keeps") +
           " as many pools as it may, and it needs new ones. Restart one server, so that a session "
           "without those that are empty now begins, and ask again; if it says so again, destroy "
           "keys that are not used";
  if (own == Left::kUnknown)
    return "the refresh did not end: this server's store cannot be read or written: its journal "
           "says more";
  if (own == Left::kKeys)
    return "the refresh did not end: " + std::to_string(left_) +
           " keys could not be moved: the other server has not the same version of them, or a "
           "pool is gone, or a session ended at them each time. Those that were removed already go "
           "with `tkdc store list` and `tkdc store agree` at both servers; look at both journals, "
           "give the others new keys, and ask again" +
           left_out();
  if (own <= Left::kPools && peers <= Left::kPools)
    return std::string("the refresh did not end: ") +
           (own == Left::kPools
                ? "a pool of before was not removed, at this server or the other one"
                : "the other server says that it has a pool of before left") +
           ", in all this time. Both journals say more, or the other server was changed. Restart "
           "one server, and ask again";
  return peers == Left::kKeys
             ? "the refresh did not end: the other server has keys left that could not be moved"
             : "the refresh did not end: the other server's store cannot be read or written: its "
               "journal says more";
}

// Of those that could not be moved, the ones that have ended sessions.
std::string PairRefresh::left_out() const {
  constexpr std::size_t kMostNamed = 8;
  std::string out;
  std::size_t named = 0;
  for (const KeyId& id : at_work_.attempt.left_out)
    if (named++ < kMostNamed)
      out += (named == 1 ? ". Keys that ended sessions: " : ", ") + to_hex(id);
  return out;
}

void PairRefresh::ended() {
  moved(keys_ - done_);
  shared_.upkeep.ended("");
}

}  // namespace tkdc
