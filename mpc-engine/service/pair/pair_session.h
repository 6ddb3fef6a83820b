// SPDX-License-Identifier: Apache-2.0
// What the parts of one session of two servers work with. Made when the session begins, gone when
// it ends; what is in the pools outlives it. One thread: the lane's.
#pragma once

#include "service/pair/pair_asked.h"
#include "service/pair/pair_circuits.h"
#include "service/pair/pair_pools.h"
#include "service/pair/pair_proved.h"
#include "service/pair/pair_records.h"
#include "service/pair/pair_reserve.h"

namespace tkdc {

// Over sessions: keys that work between jobs is at, and how many sessions in a row have ended in
// it.
struct PairAttempt {
  static constexpr unsigned kMostEnded = 2;  // then one goes without such work
  std::vector<KeyId> ids;
  unsigned ended = 0;
};

struct PairAtWork {
  pair::Session& session;
  PairPools& pools;
  PairCircuits& circuits;
  PairBlocks& blocks;
  PairRecords& records;
  PairReserve& reserve;
  PairProved& proved;   // outlives it, too
  PairProved& cookies;  // what they may cost, likewise
  PairAsked& asked;
  PairAttempt& attempt;  // outlives it, too
};

}  // namespace tkdc
