// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_offer.h"

#include <sodium.h>

#include "base/codec.h"
#include "circuits/wire_format.h"
#include "lut/wire_format.h"
#include "pair/pool.h"
#include "pair/wire_format.h"
#include "service/pair/pair_circuits.h"
#include "service/pair/pair_pools.h"
#include "service/pair/pair_reserve.h"
#include "service/pair/pair_tables.h"
#include "service/pair/wire_format.h"

namespace tkdc {
namespace {

// Counted up with each change of what two servers decide alike without saying it: which pool is the
// session's, which jobs may run, and what is made when something is missing.
constexpr std::uint64_t kRules = 3;

}  // namespace

OfferedProtocol pair_offered() {
  return pair_offered(pair_wire_format(), pair_jobs_wire_format(), circuits_wire_format(),
                      lut_jobs_wire_format());
}

OfferedProtocol pair_offered(std::uint64_t pair, std::uint64_t jobs, std::uint64_t circuits,
                             std::uint64_t tables) {
  Bytes said;
  Writer w(said);
  for (const std::uint64_t one :
       {pair, jobs, circuits, tables, kRules, kMostPairAnds, std::uint64_t{pair::kMostApart}})
    w.u64(one);
  for (const std::size_t bound :
       {PairReserve::kMostOfKind, PairReserve::kStepAnds, PairReserve::kMostMade, PairPools::kMost,
        PairPools::kMostWithOld, PairPools::kMostAll, pair_prepared_bytes(1), pair::kMostReserved,
        PairTables::kStep, PairTables::most_of_one(1'000)})
    w.u64(bound);
  pair::Digest all{};
  crypto_generichash(all.data(), all.size(), said.data(), said.size(), nullptr, 0);
  return {std::string(kPairProtocol), Reader(all).u64()};
}

}  // namespace tkdc
