// SPDX-License-Identifier: Apache-2.0
#include "sim/two.h"

#include <cstring>
#include <set>

#include "base/codec.h"
#include "base/hex.h"
#include "ot/field.h"
#include "service/pair/pair_blocks.h"
#include "service/pair/pair_records.h"
#include "service/store/kept_values.h"
#include "sim/asking.h"
#include "sim/liar.h"
#include "sim/stores.h"

namespace tkdc::sim {
namespace {

using pair::Label;

constexpr Us kRefreshed = 60 * kSecond;  // a refresh ends within this, once nothing is wrong

// By pool and number.
std::set<std::pair<std::string, std::uint64_t>> used[2];

std::string hex_of(const Label& id) {
  return to_hex({reinterpret_cast<const std::uint8_t*>(&id), sizeof id});
}

const Host& host_of(std::size_t party) { return realm().servers[party]->host(); }

bool either_refreshes() { return is_refreshing(host_of(0)) || is_refreshing(host_of(1)); }

std::optional<SecretVector> head_of(const Host& host, const Label& pool) {
  return kept_value(host, std::string(kept::kPool) + hex_of(pool) + std::string(kept::kHead));
}

// None: that server has no such pool.
std::optional<Label> delta_of(const Host& host, const Label& pool) {
  const auto head = head_of(host, pool);
  Label out;
  if (!head || head->size() != kept::kHeadBytes) return std::nullopt;
  std::memcpy(&out, kept::delta_of(*head).data(), sizeof out);
  return out;
}

bool fits(const pair::AuthBlocks& own, const pair::AuthBlocks& peers, const Label& peers_delta) {
  for (std::size_t k = 0; k < own.size(); ++k)
    if (!(own[k].mac == (peers[k].key ^ ot::field().product(own[k].own, peers_delta))))
      return false;
  return true;
}

// What both have of a record's field; empty: it was told what is wrong.
SecretVector value_of(const std::string& which, const SharedBytes (&fields)[2],
                      const Label (&deltas)[2]) {
  auto first = get_blocks(fields[0]), second = get_blocks(fields[1]);
  if (!first || !second || first->size() != second->size()) {
    world().broken("shares", which + ": the two have blocks of different lengths");
    return {};
  }
  if (!fits(*first, *second, deltas[1]) || !fits(*second, *first, deltas[0])) {
    world().broken("shares", which + ": the two stores do not fit: no session can use this key");
    return {};
  }
  SecretVector out = fields[0].component[0];
  xor_bytes(out.data(), fields[1].component[0].data(), out.size());
  return out;
}

void judge_stored(const Bytes& id) {
  std::optional<KeyRecord> records[2] = {record_of(host_of(0), id), record_of(host_of(1), id)};
  if (!records[0] || !records[1])
    return world().broken("shares", "a record cannot be read: " + to_hex(id));
  const std::string which = records[0]->principal_name + ", key " + to_hex(id).substr(0, 8);
  auto pool = pool_of(*records[0]), other = pool_of(*records[1]);
  if (!pool || !other || !(*pool == *other) || records[0]->version != records[1]->version)
    return world().broken("shares", which + " is of another pool or refresh at either server");
  const std::optional<Label> deltas[2] = {delta_of(host_of(0), *pool), delta_of(host_of(1), *pool)};
  if (!deltas[0] || !deltas[1]) return world().broken("shares", which + ": its pool is gone");
  for (const std::size_t p : {0, 1})
    if (!either_refreshes() && kept::is_old(*head_of(host_of(p), *pool)))
      return world().broken("shares", which + " is of an old pool, and no refresh is under way");
  for (const auto& [name, field] : records[0]->fields) {
    if (name == kPoolField || world().failed()) continue;
    const SecretVector value =
        value_of(which, {field, records[1]->fields[name]}, {*deltas[0], *deltas[1]});
    for (const auto& key : realm().model.keys) {
      if (name != "key" || key->known < 0 || !std::ranges::equal(key->ref.id, id)) continue;
      const Bytes& known = known_of(*key).value;
      if (value.size() < known.size() || !std::equal(known.begin(), known.end(), value.begin()))
        world().broken("shares", which + ": what the two have is not that key");
    }
  }
}

}  // namespace

Moves moves_of(const Host& host) {
  const auto value = kept_value(host, kept::kMoveState);
  if (!value || value->size() != kept::kMoveStateBytes) return {};
  Reader in(*value);
  Moves out;
  out.last = in.u32();
  out.prepared = in.u32();
  return out;
}

bool is_refreshing(const Host& host) { return kept_value(host, kept::kRefreshing).has_value(); }

void new_two() {
  for (auto& one : used) one.clear();
}

void note_reserved(int server, const Label& pool, std::uint64_t first, std::uint64_t blocks) {
  for (std::uint64_t number = first; number < first + blocks; ++number)
    if (!used[server].emplace(hex_of(pool), number).second)
      world().broken("pools", "server " + std::to_string(server) + " uses block " +
                                  std::to_string(number) + " of a pool a second time");
}

void judge_end_of_refresh(const Host& host) {
  if (liar().has_lied) return;
  for (const auto& [id, row] : rows_of(host, Tables::kCommitted)) {
    const auto record = record_of(host, id);
    if (!record) continue;
    const auto pool = pool_of(*record);
    const auto head = pool ? head_of(host, *pool) : std::nullopt;
    if (head && !kept::is_old(*head)) continue;
    return world().broken("shares", host.name + " ends a refresh, and key " +
                                        to_hex(id).substr(0, 8) + " is of a pool of before");
  }
}

void finish_refresh() {
  if (liar().has_lied || !either_refreshes()) return;
  if (world().wait(kRefreshed, [] { return !either_refreshes() || world().failed(); })) return;
  world().broken("liveness", "a refresh did not come to its end for 60 s after the last fault");
}

void judge_two() {
  const std::uint32_t epochs[] = {refresh_of(host_of(0)).is.epoch, refresh_of(host_of(1)).is.epoch};
  if (epochs[0] != epochs[1])
    return world().broken("shares", "the two have been through " + std::to_string(epochs[0]) +
                                        " and " + std::to_string(epochs[1]) + " refreshes");
  for (const std::size_t p : {0, 1})
    if (moves_of(host_of(p)).prepared != 0)
      return world().broken("stores", host_of(p).name + " has a move of keys that is half done");
  for (const auto& [id, row] : rows_of(host_of(0), Tables::kCommitted)) {
    if (world().failed()) return;
    judge_stored(id);
  }
}

}  // namespace tkdc::sim
