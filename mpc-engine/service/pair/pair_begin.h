// SPDX-License-Identifier: Apache-2.0
// How a session of two servers begins: which pool new keys are of, and a pair session for jobs.
//
//   one    where it was asked for a refresh, notes that one is under way (begin_refresh())
//   both   how many pools it has, whether a refresh is under way 1, then of each pool: id 16,
//          number 8, blocks 8, whether it is old 1
//          of which either has no block left, both have none from then on, on disk
//          which ones are old, both note on disk: no new key is of them (pair_refresh.h)
//   then   a new pool, where none that both have has enough left: a pair session of its own; then
//          each writes its part down, and a vote says that both have. If not, an old one serves,
//          or one with few left, and no key is made
//   both   how many octets of prepared circuits it keeps at most, 8, and of lookup tables, 8: the
//          fewer ones count
//   then   the pair session for jobs
//
// Called by the thread of run_session().
#pragma once

#include "pair/steps.h"
#include "service/pair/pair_pools.h"
#include "service/pair/pair_talk.h"

namespace tkdc {

// Of the blocks that are not kept for the last, so few are left that another pool is to be made.
bool is_short(const PairPools& pools, const pair::Pool& pool);

// So little is left that no new key is of it.
bool is_retired(const PairPools& pools, const pair::Label& pool);
// So little is left that its keys move.
bool is_poor(const PairPools::Count& of);

struct PairBeginning {
  InstallationId installation{};
  std::array<std::uint8_t, 32> session{};  // Session::id
  pair::Side side = pair::Side::kGarbler;
  std::size_t pool_blocks = 0;     // of a new one
  std::size_t prepared_bytes = 0;  // of what this server keeps ready at most
  pair::MakeSteps steps;           // unset: by oblivious transfer and garbling
  std::size_t tables_bytes = 0;    // of lookup tables; 0: none
};

// What this server was asked for, and nothing has said yet: a refresh is under way from now on,
// also if one was before, and all its pools are old. Where pools are old and nothing says since
// when, a store was restored: the same. On disk when it returns.
Result<void> begin_refresh(bool asked, PairPools& pools);

// `ended_by`: what ended it, where there is an error.
Result<const pair::Pool*> agree_on_pool(ot::Channel& channel, const PairBeginning& of,
                                        PairPools& pools, pair::EndedBy& ended_by);
// What both keep ready at most.
struct PairMost {
  std::size_t prepared_bytes, tables_bytes;
};
Result<PairMost> agree_on_most(ot::Channel& channel, const PairBeginning& of);
Result<std::unique_ptr<pair::Session>> begin_jobs(ot::Channel& channel, const PairBeginning& of,
                                                  pair::EndedBy& ended_by);

}  // namespace tkdc
