// SPDX-License-Identifier: Apache-2.0
// Which stored keys are bridged ahead, at the leader: those that the last session was asked for
// first, then all, a page in a step.
#include <algorithm>

#include "pair/circuit_bridge.h"
#include "service/pair/pair_upkeep.h"

namespace tkdc {
namespace {

constexpr std::size_t kPageBlocks = 1024;
constexpr std::size_t kPageRecords = 64;
static_assert(kPageBlocks <= pair::kMostBridged);

}  // namespace

// One that goes by itself is a page: of many in one step no job would have its turn.
std::vector<KeyId> PairUpkeep::next_page() {
  std::vector<KeyId> ids;
  for (std::vector<KeyId>* from : {&alone_, &asked_before_}) {
    if (from->empty()) continue;
    const std::size_t count = from == &alone_ ? 1 : std::min(kPageRecords, from->size());
    ids.assign(from->end() - static_cast<std::ptrdiff_t>(count), from->end());
    from->resize(from->size() - count);
    break;
  }
  if (ids.empty()) {
    if (auto next = shared_.store.ids_behind(bridged_to_, kPageRecords)) ids = std::move(*next);
    bridges_ = !ids.empty();
    if (bridges_) bridged_to_ = ids.back();
  }
  if (ids.size() > 1)
    std::erase_if(ids, [&](const KeyId& id) {
      if (is_alone(id)) alone_.push_back(id);
      return is_alone(id);
    });
  return ids;
}

Result<bool> PairUpkeep::bridge_page() {
  const std::vector<KeyId> ids = next_page();
  std::map<PoolId, Records> by_pool;
  std::size_t blocks = 0;
  for (const KeyId& id : ids) {
    pair::Label pool;
    RecordPtr record = at_work_.records.holds(id) ? nullptr : find(id, pool);
    if (!record || spent_.contains(id_of(pool)) || is_left_out(id)) continue;
    blocks += blocks_in(*record);
    const std::size_t bytes = blocks * pair::kBlockBits * sizeof(pair::AuthBit);
    if (blocks > kPageBlocks + kPageRecords) break;
    if (at_work_.records.bytes() + bytes > PairRecords::kMostBytes) {
      bridges_ = false;
      break;
    }
    by_pool[id_of(pool)].push_back(std::move(record));
  }
  for (auto& [of, records] : by_pool) {
    const pair::Label pool = *pool_of(*records.front());
    PairOrder order = order_of(PairOrder::Kind::kBridge, pool, records);
    auto both = agreed(order, records);
    if (!both) return both.error();
    if (auto done = bridge(*both, pool); !done) return done.error();
  }
  return bridges_ || !by_pool.empty();
}

}  // namespace tkdc
