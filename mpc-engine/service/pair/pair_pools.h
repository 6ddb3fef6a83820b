// SPDX-License-Identifier: Apache-2.0
// The pools of a server on its disk (pair/pool.h), in the store's value table:
//
//   pool/ID/head    which side, whether it is old, how many blocks, Δ
//   pool/ID/next    the number of the first block that has not been used
//   pool/ID/XXXX    chunk X of its blocks, until the number is behind it
//   pool/refresh    since when a refresh is under way
//   pool/refreshed  when the last one ended (record_store_move.cc)
//
// A refresh makes the pools that are there old: what is of them moves into pools that are made
// since, and then they go (pair_refresh.h).
//
// A backup has the heads alone, and a store that was restored has pools without blocks
// (service/store/kept_values.h).
//
// A number is on disk before what follows from it may leave this server. Blocks that have been
// taken are zeros, in memory and in the same transaction on disk: a key is what was drawn from
// them, and shall be gone when its record is. All pools that keys may be of are in memory too, 48
// octets a block; of one that had none left when it was read, no block.
//
// Threads: counts() and refreshing() from any, the rest from the lane's. Secret: Δ and blocks.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <set>

#include "pair/pool.h"
#include "service/store/value_table.h"

namespace tkdc {

class PairPools final : public pair::PoolPosition {
 public:
  // Pools of which blocks are left: those that are not old, and with old ones. And with those of
  // which none is.
  static constexpr std::size_t kMost = 64, kMostWithOld = 128, kMostAll = 255;

  PairPools(ValueTable& values, pair::Side side) : values_(values), side_(side) {}

  // Error: a value that is corrupt, or of the other side.
  Result<void> load();
  // On disk when it returns. Error also: there are too many.
  Result<void> keep(pair::Pool pool);
  // One of which no block has ever been taken.
  Result<void> drop(const pair::Label& id);
  // One that nothing is of.
  Result<void> erase(const pair::Label& id);

  // Since when a refresh is under way here, Unix time; none: none is.
  std::optional<std::uint64_t> refreshing() const;
  // When the last one ended here, Unix time; 0: none has.
  std::uint64_t refresh_ended() const;
  // Between sessions one may come to its end, as the store's entry (move_table.h).
  Result<void> look_at_refresh();
  // It is under way from now on, if it was not, and these are old. On disk when it returns.
  Result<void> retire(const std::vector<pair::Label>& ids, std::uint64_t now_s);
  // It is under way from now on, also if it was before, and all pools are old. The same.
  Result<void> retire_all(std::uint64_t now_s);
  // Whether another pool of so many blocks could be kept, if all of these were old.
  Result<void> room_for_refresh(std::size_t blocks) const;
  bool is_old(const pair::Label& id) const;
  bool has_old() const;

  // As the last session's begin has it, at both alike. Of which either server had no block left, as
  // one that was restored has none: their keys come into a session by a circuit.
  bool is_spent(const pair::Label& id) const;
  void are_spent(std::vector<pair::Label> ids) { spent_ = std::move(ids); }
  // Either server has as many as there may be, so no other one
  // is made, and no key; and which only this server has.
  bool full() const { return full_; }
  bool full_here() const { return full_here_; }  // else the other one says that it is
  void is_full(bool full, bool here) { full_ = full, full_here_ = here; }
  // Why one of both has not kept another one that both had made; empty: it has. Then it is full.
  const std::string& no_room() const { return no_room_; }
  void no_room(std::string why) { no_room_ = std::move(why); }
  const std::vector<pair::Label>& orphans() const { return orphans_; }
  void no_orphans() { orphans_.clear(); }
  void is_orphan(const pair::Label& id) { orphans_.push_back(id); }

  const pair::Pool* find(const pair::Label& id) const;
  struct Count {
    pair::Label id;
    std::uint64_t next = 0, blocks = 0;
    bool old = false;
  };
  std::vector<Count> counts() const;

  Result<std::uint64_t> next(const pair::Label& pool) override;
  Result<bool> take(const pair::Label& pool, std::uint64_t first, std::uint64_t blocks) override;

 private:
  Result<void> load_one(const std::string& id);
  Result<void> look_at_refresh_locked();
  Result<void> retire_locked(const std::vector<pair::Label>& ids, std::uint64_t since_s);
  void erase_used(const pair::Label& id, std::uint64_t next);
  pair::Pool* find_own(const pair::Label& id);

  Result<void> erase_locked(const pair::Label& id);
  SecretVector head_of(const pair::Pool& pool, std::uint64_t blocks, bool old) const;

  ValueTable& values_;
  const pair::Side side_;
  mutable std::mutex mutex_;
  std::list<pair::Pool> pools_;  // what is reserved points to them
  using Numbers = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;
  Numbers next_;    // by pool
  Numbers made_;    // how many blocks
  Numbers erased_;  // chunks before it are
  std::set<std::pair<std::uint64_t, std::uint64_t>> old_;
  std::optional<std::uint64_t> refreshing_;
  std::uint64_t refresh_ended_ = 0;
  bool full_ = false, full_here_ = false;
  std::string no_room_;
  std::vector<pair::Label> orphans_, spent_;
};

}  // namespace tkdc
