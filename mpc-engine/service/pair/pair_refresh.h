// SPDX-License-Identifier: Apache-2.0
// A refresh of two servers, in the session in which keys move and in which it ends
// (docs/protocols/26-two-server-keys.md, "Refresh"). It begins with a session (pair_begin.h); its
// keys move and its old pools go as others do (pair_upkeep.h). Then, by the leader's order:
//
//   end   the leader: the number of its store's next move 4, what it has left 1. The other one: the
//         same, 5. If neither has anything left, both prepare the end as a move of no key, and
//         commit it: two votes
//
// What is left: nothing; old pools, which something not stored yet is of; keys of such pools, or of
// pools that are not there; or it is unknown: the store cannot be read, or an old pool not removed.
//
// Each goes by its own store alone. One thread: the lane's. Error: the session's.
#pragma once

#include "service/job/lane_shared.h"
#include "service/pair/pair_census.h"
#include "service/pair/pair_session.h"
#include "service/pair/pair_talk.h"

namespace tkdc {

class PairRefresh {
 public:
  enum class Left : std::uint8_t { kNothing = 0, kPools = 1, kKeys = 2, kUnknown = 3 };
  enum class Outcome { kGoesOn, kFailed, kEnded };

  PairRefresh(const LaneShared& shared, const PairAtWork& at_work)
      : shared_(shared), at_work_(at_work) {}

  bool under_way() const { return at_work_.pools.refreshing().has_value(); }
  // At both: how far it is.
  void begin();
  void moved(std::size_t keys);
  void are_left(std::size_t keys);  // at the leader
  // It comes to nothing in this session.
  void failed(const std::string& why);

  // ---- of its end
  // Where nothing is left `number` is that of the next move here; else 0. A census that is not done
  // yet may have found nothing: then it is as with old pools.
  Left left(const PairCensus& census, std::uint32_t next_move, std::uint32_t& number);
  // What both have said.
  static Outcome concluded(Left own, Left peers);
  std::string why_not(Left own, Left peers) const;
  void ended();

 private:
  void drop_staged();
  std::string left_out() const;

  const LaneShared& shared_;
  const PairAtWork& at_work_;
  std::uint64_t keys_ = 0, done_ = 0;
  std::uint64_t left_ = 0;  // keys, as they were counted last
};

}  // namespace tkdc
