// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_upkeep.h"

#include <algorithm>
#include <cstring>

#include "base/codec.h"
#include "pair/circuit_bridge.h"
#include "service/pair/pair_begin.h"
#include "service/store/move_table.h"

namespace tkdc {
namespace {

using pair::EndedBy;
using pair::kLabelBytes;

constexpr std::size_t kSweptRecords = 256;
constexpr std::size_t kMostMovedBlocks = pair::kMostReserved - 1;
constexpr std::size_t kMovedPart = 8;  // of a small pool, no more than that part at once
constexpr unsigned kMostRefusals = 12;

std::vector<const KeyRecord*> pointers(const std::vector<std::shared_ptr<const KeyRecord>>& of) {
  std::vector<const KeyRecord*> out;
  for (const auto& one : of) out.push_back(one.get());
  return out;
}

// The next version of a record, of what is stored anew; `block` goes on.
KeyRecord moved_record(const KeyRecord& old, const pair::StoredBlocks& stored, std::size_t& block) {
  KeyRecord out = old;
  ++out.version;
  for (auto& [name, field] : out.fields) {
    if (name == kPoolField) {
      field = put_pool(stored.pool);
      continue;
    }
    const auto first = stored.blocks.begin() + static_cast<std::ptrdiff_t>(block);
    const std::size_t count = field.component[0].size() / kLabelBytes;
    field = put_blocks(pair::AuthBlocks(first, first + static_cast<std::ptrdiff_t>(count)));
    block += count;
  }
  return out;
}

}  // namespace

std::size_t blocks_in(const KeyRecord& record) {
  std::size_t octets = 0;
  for (const auto& [name, field] : record.fields)
    if (name != kPoolField) octets += field.component[0].size();
  return octets / kLabelBytes;
}

PairUpkeep::PairUpkeep(const LaneShared& shared, const PairAtWork& at_work)
    : shared_(shared), at_work_(at_work), refresh_(shared_, at_work), census_(shared_.store),
      asked_before_(at_work.asked.latest_last()) {}

void PairUpkeep::tell(const std::string& why) const {
  if (shared_.options.trouble) shared_.options.trouble("keys: " + why);
}

// Null: not one that two servers could bridge here.
PairUpkeep::RecordPtr PairUpkeep::find(const KeyId& id, pair::Label& pool) const {
  auto record = shared_.store.get(id);
  if (!record || !*record || (*record)->sharing != kPairSharing) return nullptr;
  auto of = pool_of(**record);
  if (!of || at_work_.pools.find(*of) == nullptr) return nullptr;
  const std::size_t blocks = blocks_in(**record);
  if (blocks == 0 || blocks > kMostMovedBlocks) return nullptr;
  pool = *of;
  return *record;
}

// ---- both

Bytes PairUpkeep::look_at(const PairOrder& order, Records& records) const {
  Bytes out;
  std::set<KeyId> seen;
  std::size_t blocks = 0;
  for (const PairOrder::Record& one : order.records) {
    pair::Label pool;
    RecordPtr record = find(one.id, pool);
    const bool has = record != nullptr && pool == order.pool && record->version == one.version &&
                     seen.insert(one.id).second &&
                     blocks + blocks_in(*record) <= pair::kMostBridged;
    if (has) {
      blocks += blocks_in(*record);
      records.push_back(std::move(record));
    }
    out.push_back(has ? 1 : 0);
  }
  return out;
}

Result<void> PairUpkeep::bridge(const Records& records, const pair::Label& pool) {
  begin_attempt(records);
  const auto done =
      records.empty() ? Result<void>() : at_work_.records.bridge(pointers(records), false);
  end_attempt(done.ok());
  if (done || !at_work_.session.stands()) return done;
  spent_.insert(id_of(pool));
  return {};
}

// What both have bridged, under new blocks. What is kept of a pool for this is taken last; without
// a block, by a circuit.
Result<pair::StoredBlocks> PairUpkeep::store_anew(const Records& records, const pair::Label& pool) {
  pair::Session& session = at_work_.session;
  pair::StoredBlocks old{pool, {}};
  for (const RecordPtr& record : records) {
    auto blocks = get_blocks(blocks_of_record(*record));
    if (!blocks) return session.end(blocks.error().message, EndedBy::kState);
    old.blocks.insert(old.blocks.end(), blocks->begin(), blocks->end());
  }
  auto fresh = at_work_.blocks.fresh(old.blocks.size());
  if (!fresh) return fresh.error();
  const Bytes name = name_of_records(pointers(records));
  const pair::Pool* spent = at_work_.blocks.spent(pool);
  Result<pair::Held> held = fail("");
  if (spent != nullptr) {
    held = pair::bridge_in_circuit(session, *spent, old, name);
  } else {
    auto reserved = at_work_.blocks.need_to_move(pool);
    if (!reserved) return reserved.error();
    held = pair::bridge(session, **reserved, old, name);
  }
  if (!held) return held.error();
  return pair::store(session, *held, at_work_.blocks.pool(), std::move(*fresh));
}

Result<void> PairUpkeep::move(std::uint32_t number, const Records& records,
                              const pair::Label& pool) {
  begin_attempt(records);
  if (records.empty()) return {};
  auto stored = store_anew(records, pool);
  if (!stored) {
    end_attempt(false);
    if (!at_work_.session.stands()) return stored.error();
    const bool old = at_work_.pools.is_old(pool);
    (old ? refreshes_ : moves_) = false;
    give_up_moves();
    const std::string what = old ? "an old pool: " : "a pool that is nearly used up: ";
    const std::string why = "they could not be moved out of " + what + stored.error().message;
    tell(why);
    refresh_.failed(why);
    return {};
  }
  std::vector<KeyRecord> anew;
  std::size_t block = 0;
  for (const RecordPtr& record : records) anew.push_back(moved_record(*record, *stored, block));
  census_.forget();
  auto moved = in_two_phases(number, shared_.store.moves()->prepare_move(number, anew),
                             at_work_.pools.is_old(pool) ? refreshes_ : moves_);
  end_attempt(moved && *moved);
  if (!moved) return moved.error();
  if (!*moved) {
    give_up_moves();
    return {};
  }
  went_on();
  // Their bits in this session are those of before, at both alike.
  for (const RecordPtr& record : records) at_work_.records.forget(record->ref.id);
  if (at_work_.pools.is_old(pool)) refresh_.moved(records.size());
  return {};
}

// Those of which it came to nothing wait for the next session.
void PairUpkeep::give_up_moves() {
  const std::set<PoolId> goes_on = moves_ ? poor_now() : std::set<PoolId>();
  std::erase_if(to_move_, [&](const auto& one) { return !goes_on.contains(one.first); });
}

// What this server has prepared, or why it has not: by both stores or by none, and whether it was.
// What is left half done the next session settles.
Result<bool> PairUpkeep::in_two_phases(std::uint32_t number, const Result<void>& first,
                                       bool& goes_on) {
  pair::Session& session = at_work_.session;
  MoveTable& moves = *shared_.store.moves();
  auto everywhere = both_say(session.channel(), first.ok());
  if (!everywhere) return lost(everywhere.error()).error();
  if (!*everywhere) {
    goes_on = false;
    const std::string why =
        first ? "the other server could not store keys that move: its journal says why"
              : first.error().message;
    tell(why);
    refresh_.failed(why);
    const Result<void> undone =
        first ? shared_.store.abandon(moves.move_entry(number)) : Result<void>();
    if (!undone) return session.end(undone.error().message, EndedBy::kState);
    return false;
  }
  const Result<void> second = shared_.store.commit(moves.move_entry(number));
  everywhere = both_say(session.channel(), second.ok());
  if (!everywhere) return lost(everywhere.error()).error();
  if (*everywhere) {
    tell_of_jump();
    return true;
  }
  return session.end(second
                         ? "it could not store keys that move"
                         : "this server could not store keys that move: " + second.error().message,
                     EndedBy::kState);
}

void PairUpkeep::begin() {
  refresh_.begin();
  look_back();
  orphans_ = at_work_.pools.orphans();
  if (orphans_.empty()) return;
  read_some();
  look_at_orphans();
}

// ---- the other one

Result<void> PairUpkeep::obey(const PairOrder& order) {
  ot::Channel& channel = at_work_.session.channel();
  if (order.kind == PairOrder::Kind::kErase) {
    const bool here = is_retired(at_work_.pools, order.pool) && has_gone(order.pool);
    const std::uint8_t word = here ? 1 : 0;
    if (auto said = channel.write({&word, 1}); !said) return lost(said.error());
    return here ? erase(order.pool) : Result<void>();
  }
  if (order.kind == PairOrder::Kind::kEnd) return answer_end(order);
  Records records;
  const Bytes has = look_at(order, records);
  const std::uint32_t own_next = next_move();
  begin_attempt(records);
  Bytes out;
  Writer writer(out);
  writer.u32(own_next);
  writer.raw(has);
  if (auto said = channel.write(out); !said) return lost(said.error());
  if (order.kind == PairOrder::Kind::kBridge) return bridge(records, order.pool);
  if (order.number == 0 || own_next == 0 || order.pool == at_work_.blocks.pool().id) {
    end_attempt(false);
    return {};
  }
  const auto number = later_move(own_next, order.number);
  end_attempt(false);
  return number ? move(*number, records, order.pool) : number.error();
}

// ---- the leader

PairOrder PairUpkeep::order_of(PairOrder::Kind kind, const pair::Label& pool,
                               const Records& records) {
  PairOrder out;
  out.kind = kind;
  out.pool = pool;
  out.number = kind == PairOrder::Kind::kMove ? next_move() : 0;
  for (const RecordPtr& one : records) out.records.push_back({one->ref.id, one->version});
  return out;
}

Result<bool> PairUpkeep::step() {
  if (bridges_ && !is_due()) return bridge_page();
  if (!to_move_.empty()) return move_page();
  if (sweeps_from_) return sweep_page();
  if (!to_erase_.empty() || ends_refresh_ || !orphans_.empty()) {
    if (!census_.is_done()) {
      census_.step();
      return true;
    }
    look_at_orphans();
    if (to_erase_.empty() && !ends_refresh_) return true;
    auto done = to_erase_.empty() ? end_refresh() : erase_next();
    if (!done) return done.error();
    return true;
  }
  begin_sweep();
  return sweeps_from_.has_value();
}

// Says it, and hears which of them the other one has. The order's number is then the larger one.
Result<PairUpkeep::Records> PairUpkeep::agreed(PairOrder& order, const Records& records) {
  ot::Channel& channel = at_work_.session.channel();
  Bytes in(sizeof order.number + records.size());
  begin_attempt(records);
  auto done = say(channel, order);
  if (done) done = channel.read(in);
  if (!done) return at_work_.session.end(done.error().message);
  Reader reader(in);
  const std::uint32_t peers = reader.u32();
  Records out;
  for (const RecordPtr& one : records) {
    const std::uint8_t has = reader.u8();
    if (has > 1) return at_work_.session.end("it says neither yes nor no");
    if (has == 1) out.push_back(one);
  }
  if (order.kind == PairOrder::Kind::kMove && (peers == 0 || order.number == 0)) out.clear();
  if (order.kind == PairOrder::Kind::kMove && !out.empty()) {
    const auto number = later_move(order.number, peers);
    if (!number) return number.error();
    order.number = *number;
  }
  end_attempt(false);
  return out;
}

// Into an old pool nothing is moved for a refresh.
bool PairUpkeep::is_to_move(const PairPools::Count& pool) const {
  const pair::Label& into = at_work_.blocks.pool().id;
  if (pool.id == into) return false;
  if (pool.old && is_refreshing() && !at_work_.pools.is_old(into)) return true;
  return is_poor(pool) && !at_work_.pools.is_spent(pool.id);
}

std::set<PoolId> PairUpkeep::poor_now() const {
  std::set<PoolId> out;
  for (const PairPools::Count& one : at_work_.pools.counts())
    if (is_to_move(one)) out.insert(id_of(one.id));
  return out;
}

bool PairUpkeep::is_due() const {
  if (!moves_) return false;
  if (is_refreshing() &&
      (sweeps_from_ || !to_erase_.empty() || ends_refresh_ || SteadyClock::now() >= sweeps_again_))
    return true;
  return !to_move_.empty() || (sweeps_from_ && !poor_.empty()) ||
         !std::ranges::includes(swept_, poor_now());
}

// Once a session, again when another pool is nearly used up, and while a refresh waits for its end.
void PairUpkeep::begin_sweep() {
  const std::vector<PairPools::Count> pools = at_work_.pools.counts();
  const bool retired = std::ranges::any_of(pools, [&](const PairPools::Count& one) {
    return !(one.id == at_work_.blocks.pool().id) && is_retired(at_work_.pools, one.id);
  });
  std::set<PoolId> poor = poor_now();
  const bool wanted = is_refreshing() || (refused_ && refusals_ < kMostRefusals);
  const bool again = wanted && SteadyClock::now() >= sweeps_again_;
  const bool due = !swept_once_ || again || !std::ranges::includes(swept_, poor);
  if (!(retired || is_refreshing()) || !due || !moves_) return;
  poor_ = poor;
  swept_ = std::move(poor);
  swept_once_ = true;
  named_.clear();
  if (std::exchange(refused_, false)) ++refusals_;
  sweeps_from_ = KeyId{};
}

Result<bool> PairUpkeep::sweep_page() {
  auto ids = shared_.store.ids_behind(*sweeps_from_, kSweptRecords);
  if (!ids || ids->empty()) {
    sweeps_from_.reset();
    if (ids) end_sweep();
    if (!ids) not_erased("the keys that move cannot be listed: " + ids.error().message, true);
    return ids.ok();
  }
  sweeps_from_ = ids->back();
  for (const KeyId& id : *ids) {
    pair::Label pool;
    RecordPtr record = find(id, pool);
    if (!record) continue;
    if (poor_.contains(id_of(pool)) && moves_ && !is_left_out(id))
      to_move_[id_of(pool)].push_back(id);
    else
      named_.insert(id_of(pool));
  }
  return true;
}

// Some records of one pool, as many as a reservation of new blocks is for.
Result<bool> PairUpkeep::move_page() {
  auto& [id, ids] = *to_move_.begin();
  const std::size_t most =
      std::min(kMostMovedBlocks, at_work_.blocks.pool().blocks.size() / kMovedPart);
  Records records;
  std::size_t blocks = 0;
  while (!ids.empty()) {
    pair::Label pool;
    RecordPtr record = find(ids.back(), pool);
    const bool here = record && id_of(pool) == id;
    const bool alone = is_alone(ids.back());
    if (here && !records.empty() && (alone || blocks + blocks_in(*record) > most)) break;
    ids.pop_back();
    if (!here) continue;
    blocks += blocks_in(*record);
    records.push_back(std::move(record));
    if (alone) break;
  }
  if (ids.empty() || !moves_) to_move_.erase(to_move_.begin());
  if (records.empty() || !moves_) return true;
  const pair::Label pool = *pool_of(*records.front());
  PairOrder order = order_of(PairOrder::Kind::kMove, pool, records);
  auto both = agreed(order, records);
  if (!both) return both.error();
  if (auto done = move(order.number, *both, pool); !done) return done.error();
  return true;
}

// Those of which nothing is any more go, at both, one in a step.
void PairUpkeep::end_sweep() {
  census_.forget();
  for (const PairPools::Count& one : at_work_.pools.counts())
    if (!named_.contains(id_of(one.id)) && is_retired(at_work_.pools, one.id))
      to_erase_.push_back(one.id);
  ends_refresh_ = is_refreshing();
  std::size_t left = 0;
  for (const auto& [id, ids] : to_move_)
    if (at_work_.pools.is_old({id.second, id.first})) left += ids.size();
  if (ends_refresh_) refresh_.are_left(left);
}

}  // namespace tkdc
