// SPDX-License-Identifier: Apache-2.0
// The small messages of two servers between what pair/ says: what the leader wants done next, what
// each says of a job before it runs, and votes. They travel on the streams of the pair session, at
// points where both wait for nothing else. Everything in them is public.
//
//   order       leader → other: kind 1, length 2, and
//               alive    nothing; answered with one octet, 1, or 2: a new session is wanted
//               job      the job's name 24, the leader's statement, which of its circuits are
//                        made for it though some are ready 1: bit k, of the k-th
//               prepare  a kind of circuit: a step towards one more of it
//               tables   which way 1: a step's more of lookup tables (pair_tables.h)
//               forget   a kind of circuit: what is prepared of it goes
//               bridge, move, erase   pool 16, number 4, how many records 2, and of each its id 16
//                        and version 4 (pair_upkeep.h)
//               end      of a refresh: number 4, what is left 1 (pair_refresh.h)
//   statement   verdict 1, digest of what is public of the job 32, what of the record is held in
//               this session 1 (nothing, its bits, PRF+ of them too), how many circuits of its
//               kinds are ready 2; of lookup tables: whether it would take them, and has the
//               record's round keys 1, circuits beside them that are ready 2, how many are left
//               forward 4 and inverse 4, random bits that have served 8
//   vote        1: yes, 0: no; each to the other
#pragma once

#include "ot/channel.h"
#include "pair/auth_bit.h"
#include "service/admit/admission.h"
#include "service/pair/pair_tables.h"

namespace tkdc {

enum class PairHeld : std::uint8_t { kNothing = 0, kRecord = 1, kPrf = 2 };

// Of a job's AES by tables.
struct PairByTables {
  bool wanted = false;      // this server would
  bool round_keys = false;  // are there
  std::uint16_t ready = 0;
  PairTablesLeft left;
};

struct PairStatement {
  Verdict verdict = kMissing;
  Digest opened{};
  PairHeld held = PairHeld::kNothing;
  std::uint16_t ready = 0;
  PairByTables tables;
  static constexpr std::size_t kBytes = 55;
};

struct PairOrder {
  enum class Kind : std::uint8_t {
    kAlive = 0,
    kJob = 1,
    kPrepare = 2,
    kForget = 3,
    kTables = 4,
    kBridge = 8,
    kMove = 9,
    kErase = 10,
    kEnd = 11
  };
  struct Record {
    KeyId id{};
    std::uint32_t version = 0;
  };
  static constexpr std::size_t kMostRecords = 256, kMostText = 128;
  static constexpr std::size_t kMostBytes = 22 + 20 * kMostRecords;
  Kind kind = Kind::kAlive;
  JobName job;
  PairStatement statement;
  std::uint8_t made = 0;  // for this job, of its circuits
  static constexpr std::uint8_t kMostMade = 7;
  std::string circuit;
  PairTables::Way way = PairTables::Way::kForward;  // of kTables
  // Of kBridge, kMove and kErase.
  pair::Label pool;
  std::uint32_t number = 0;  // of kEnd, too
  std::vector<Record> records;
  std::uint8_t left = 0;  // of kEnd
  bool is_of_pools() const { return kind >= Kind::kBridge && kind <= Kind::kErase; }
};

Result<void> say(ot::Channel& channel, const PairOrder& order);
// Error also: no order, or a field beyond its limit.
Result<PairOrder> hear_order(ot::Channel& channel);
Result<void> say(ot::Channel& channel, const PairStatement& statement);
Result<PairStatement> hear_statement(ot::Channel& channel);
// Whether both have the same ready, of circuits and of tables: as each does what the other one
// does, nothing else is to be expected, and no word of a job may leave where it is not so.
bool has_alike(const PairStatement& own, const PairStatement& peers);
// Whether both say yes.
Result<bool> both_say(ot::Channel& channel, bool own);

// What becomes of a job, the same at both: a refusal counts if both say it, and a job of which they
// have been told different things is not run.
Verdict concluded(const PairStatement& own, const PairStatement& peers);

}  // namespace tkdc
