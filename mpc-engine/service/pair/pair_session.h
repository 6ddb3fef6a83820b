// SPDX-License-Identifier: Apache-2.0
// What the parts of one session of two servers work with. Made when the session begins, gone when
// it ends; what is in the pools outlives it. One thread: the lane's.
#pragma once

#include <optional>
#include <set>

#include "service/pair/pair_asked.h"
#include "service/pair/pair_circuits.h"
#include "service/pair/pair_pools.h"
#include "service/pair/pair_proved.h"
#include "service/pair/pair_records.h"
#include "service/pair/pair_reserve.h"
#include "service/pair/pair_tables.h"

namespace tkdc {

// Over sessions: keys that work between jobs is at, and how many sessions in a row have ended while
// it was at the same ones. Then they are tried one by one, and one that ends two sessions by itself
// is left out, until one has ended for another reason. A link that breaks at different keys is none
// of it.
struct PairAttempt {
  static constexpr unsigned kMostEnded = 2;  // then one by one
  static constexpr unsigned kMostInAll = 6;  // then one session goes without such work
  static constexpr std::size_t kMostOneByOne = 4096;
  std::set<KeyId> ids, last, ended_at;  // now, when the last one ended, and all in this row
  unsigned ended = 0;
  std::optional<KeyId> alone;  // that has ended the last two by itself
  std::set<KeyId> one_by_one, left_out;

  void session_is_over();
};

struct PairAtWork {
  pair::Session& session;
  PairPools& pools;
  PairCircuits& circuits;
  PairBlocks& blocks;
  PairRecords& records;
  PairReserve& reserve;
  PairTables& tables;
  PairProved& proved;   // outlives it, too
  PairProved& cookies;  // what they may cost, likewise
  PairAsked& asked;
  PairAttempt& attempt;  // outlives it, too
};

}  // namespace tkdc
