// SPDX-License-Identifier: Apache-2.0
// What two servers do for their stored keys between jobs. Server 0 leads: it says which
// records, and both look whether they have them at the same version and of the same pool; those
// that either lacks are left out by both.
//
//   bridge   many records by one block of their pool, as far as there is room: a session costs a
//            few blocks, and not one for each key. Answer: an octet for each record, 1: has it
//   move     records of a pool that is nearly used up, or old, into the session's pool: bridged,
//            stored under new blocks, prepared by both stores as the next version, and committed.
//            Answer: the number of this store's next move 4, then as above
//   erase    a pool that is retired and that no record names. Answer: 1: here too; then both
//            erase it, and vote. 0: not here, or not yet: it is asked again later
//   end      of a refresh (pair_refresh.h)
//
// What records name each reads by itself, a page at a time, before it says so (pair_census.h).
//
// Used by the lane's thread. Error: the session's.
#pragma once

#include <chrono>
#include <set>

#include "service/job/lane_shared.h"
#include "service/pair/pair_census.h"
#include "service/pair/pair_refresh.h"
#include "service/pair/pair_session.h"
#include "service/pair/pair_talk.h"

namespace tkdc {

// Stored ones that a record has, its pool's name aside.
std::size_t blocks_in(const KeyRecord& record);

class PairUpkeep {
 public:
  PairUpkeep(const LaneShared& shared, const PairAtWork& at_work);

  // At both, before the first order: pools that the other one has no more go, if nothing is of
  // them. Of a large store this is known later.
  void begin();
  // At the leader, while it is idle: one step, some 0.1 s at most. Whether there was one to do.
  Result<bool> step();
  // Whether keys have to move before their pool is used up, or for a refresh: a step between jobs,
  // too.
  bool is_due() const;
  Result<void> obey(const PairOrder& order);
  // At the other one, while it hears that the leader is there: whether that goes on with a refresh.
  void look_at_leader();
  // At the other one, between orders: a page of what it reads of its store. Whether there was one.
  bool read_on();

 private:
  using RecordPtr = std::shared_ptr<const KeyRecord>;
  using Records = std::vector<RecordPtr>;

  RecordPtr find(const KeyId& id, pair::Label& pool) const;
  std::vector<KeyId> next_page();
  Result<bool> bridge_page();
  Result<bool> sweep_page();
  void end_sweep();
  void begin_sweep();
  bool is_refreshing() const { return refresh_.under_way() && refreshes_; }
  bool is_to_move(const PairPools::Count& pool) const;
  void give_up_moves();
  void begin_attempt(const Records& records);
  void end_attempt(bool done);
  void look_back();
  void go_without();
  bool is_left_out(const KeyId& id) const { return at_work_.attempt.left_out.contains(id); }
  bool is_alone(const KeyId& id) const { return at_work_.attempt.one_by_one.contains(id); }
  std::set<PoolId> poor_now() const;
  Result<bool> move_page();
  void read_some();
  void look_at_orphans();
  bool may_be_erased(const pair::Label& pool);
  bool has_gone(const pair::Label& pool);
  Result<void> erase_next();
  Result<void> end_refresh();
  Result<void> answer_end(const PairOrder& order);
  struct Numbers {
    std::uint32_t own = 0, peers = 0;  // of the next move
  };
  Result<std::uint32_t> later_move(std::uint32_t own, std::uint32_t peers);
  void tell_of_jump();
  void went_on();
  Result<void> settle_end(Numbers numbers, PairRefresh::Left own, PairRefresh::Left peers);

  PairOrder order_of(PairOrder::Kind kind, const pair::Label& pool, const Records& records);
  Result<Records> agreed(PairOrder& order, const Records& records);
  Bytes look_at(const PairOrder& order, Records& records) const;
  Result<void> bridge(const Records& records, const pair::Label& pool);
  Result<void> move(std::uint32_t number, const Records& records, const pair::Label& pool);
  Result<pair::StoredBlocks> store_anew(const Records& records, const pair::Label& pool);
  Result<bool> in_two_phases(std::uint32_t number, const Result<void>& first, bool& goes_on);
  Result<void> erase(const pair::Label& pool);
  void tell_of_orphan(const pair::Label& pool) const;
  void not_erased(const std::string& why, bool old);
  std::uint64_t most_moves() const;
  std::uint32_t next_move();
  void tell(const std::string& why) const;
  Result<void> lost(const Error& why) { return at_work_.session.end(why.message); }

  const LaneShared shared_;
  const PairAtWork& at_work_;
  PairRefresh refresh_;
  PairCensus census_;
  std::vector<pair::Label> orphans_;  // to be looked at when it is done
  // At the leader.
  std::vector<KeyId> asked_before_;  // to be bridged first
  KeyId bridged_to_{};
  std::vector<KeyId> alone_;  // of a page, to be bridged one by one
  // Until the next session: where one comes to nothing. Without refreshes keys of a pool that is
  // nearly used up still move.
  bool bridges_ = true, moves_ = true, refreshes_ = true;
  bool told_no_number_ = false, told_of_leader_ = false, told_of_jump_ = false;
  std::optional<Numbers> jump_;  // as the other one said last
  std::set<PoolId> spent_;       // no ordinary blocks are left
  std::optional<KeyId> sweeps_from_;
  std::set<PoolId> poor_, named_;  // of this sweep
  std::map<PoolId, std::vector<KeyId>> to_move_;
  std::set<PoolId> swept_;  // poor ones of the last
  bool swept_once_ = false;
  std::vector<pair::Label> to_erase_;
  unsigned refusals_ = 0;                   // sweeps of which the other one has not erased a pool
  bool refused_ = false;                    // in the last
  bool ends_refresh_ = false;               // next, when the pools have gone
  SteadyClock::time_point sweeps_again_{};  // for a refresh, or what was refused
  unsigned waits_ = 0;                      // how often it could not end, for the other one's word
  SteadyClock::time_point waited_{};        // when that was counted last
  SteadyClock::time_point went_on_at_ = SteadyClock::now();  // at the other one, for a refresh
};

}  // namespace tkdc
