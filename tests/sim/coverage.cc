// SPDX-License-Identifier: Apache-2.0
#include "sim/coverage.h"

#include <algorithm>
#include <set>

#include "sim/stores.h"
#include "sim/two.h"

namespace tkdc::sim {
namespace {

constexpr const char* kStates[] = {
    "bind: half made when a server starts",
    "bind: nobody was told",
    "bind: refused",
    "bind: settled, made",
    "bind: settled, not made",
    "bind: told of",
    "destroy: a staged key",
    "destroy: half removed when a server starts",
    "destroy: nobody was told",
    "destroy: settled, kept",
    "destroy: settled, removed",
    "destroy: told of",
    "dropped: asked back without approval",
    "dropped: given back",
    "dropped: half changed when a server starts",
    "dropped: nobody was told",
    "dropped: purged",
    "dropped: settled, given back",
    "dropped: settled, left as it was",
    "dropped: settled, purged",
    "epochs: skipped",
    "equal: equal",
    "equal: not equal",
    "export: once",
    "exports: keys given back",
    "garbling: a circuit is too long",
    "garbling: a server finds something wrong",
    "garbling: a session ended amid an operation",
    "garbling: a wrong verdict latches",
    "garbling: an instance lost while it was made",
    "garbling: an instance made",
    "garbling: an operation",
    "garbling: none stands ready, by sharing",
    "garbling: wrong tables latch",
    "handshake: another certificate",
    "handshake: nobody called",
    "handshake: of an earlier attempt",
    "handshake: refused by a peer",
    "handshake: the peer does not answer",
    "handshake: the stores differ",
    "keys: a change is taken up",
    "keys: changed",
    "keys: shares of before do not open",
    "krbtgt: rolled over",
    "latch: a broken check counted",
    "latch: a deviation",
    "latch: keeps sessions off",
    "latch: released",
    "latch: too many broken checks",
    "move: half made when a server starts",
    "move: settled, made",
    "move: settled, not made",
    "pools: nearly used up",
    "refresh: done",
    "refresh: half done when a server starts",
    "refresh: of two, done",
    "refresh: settled, done",
    "refresh: settled, not done",
    "repair: a lie is noticed",
    "repair: a refresh is undone first",
    "repair: an old certificate is refused",
    "repair: approved",
    "repair: backups are put back instead",
    "repair: begun",
    "repair: done",
    "repair: ended in trouble",
    "repair: one approval was not enough",
    "revocation: a ticket refused",
    "revocation: in force",
    "revocation: lifted by all three",
    "session: a new one",
    "session: ended, keys were half made",
    "session: goes on",
    "session: lost, a connection ended",
    "session: lost, a peer was silent",
    "session: lost, otherwise",
    "session: of two",
    "session: the first",
    "shares: audited",
    "stores: data.mdb and keys of two moments",
    "stores: differ, repaired",
};

struct Heard {
  const char *head, *within, *state;
};
// The first that fits.
constexpr Heard kHeard[] = {
    {"session ", " up: epoch 1,", "session: the first"},
    {"session ", " up: epoch", "session: a new one"},
    {"session ", " up: two servers", "session: of two"},
    {"session ", " goes on", "session: goes on"},
    {"no session: the pool is nearly used up", "", "pools: nearly used up"},
    {"no session: the keys have been refreshed", "", "refresh: of two, done"},
    {"session: ", "epochs are skipped", "epochs: skipped"},
    {"no session: latched", "", "latch: keeps sessions off"},
    {"no session: session: ", "inventories of all three", "handshake: the stores differ"},
    {"no session: session: ", "the inventory of", "handshake: the stores differ"},
    {"no session: session: ", " refuses: ", "handshake: refused by a peer"},
    {"no session: session: ", "did not call in time", "handshake: nobody called"},
    {"no session: session: ", "does not answer", "handshake: the peer does not answer"},
    {"no session: session: ", "an earlier attempt", "handshake: of an earlier attempt"},
    {"no session: link: no packet", "", "session: lost, a peer was silent"},
    {"no session: tls: ", "", "session: lost, a connection ended"},
    {"no session: keys: ", "", "session: ended, keys were half made"},
    {"no session: ", "", "session: lost, otherwise"},
    {"sessions given up while", "", "latch: a broken check counted"},
    {"the latch was released", "", "latch: released"},
};

// By server: what was half made, or half removed, when it started.
std::set<Bytes> half_made[kServers], half_removed[kServers], half_changed[kServers];
std::optional<std::uint32_t> half_refreshed[kServers];  // to the epoch behind this one
std::uint32_t half_moved[kServers];                     // its number; 0: none

void settled(int server, std::set<Bytes>& waiting, Tables::Table half, const char* there,
             const char* not_there) {
  const Host& host = world().hosts[static_cast<std::size_t>(server)];
  std::erase_if(waiting, [&](const Bytes& id) {
    if (rows_of(host, half).contains(id)) return false;
    world().reached(rows_of(host, Tables::kCommitted).contains(id) ? there : not_there);
    return true;
  });
}

bool is_half_changed(const Host& host, const Bytes& id) {
  const Table& rows = rows_of(host, Tables::kDropped);
  const auto row = rows.find(id);
  return row != rows.end() && dropped_in(row->second).state != DroppedState::kDropped;
}

void look_at_half_changed(const Host& host, bool starts) {
  std::set<Bytes>& changed = half_changed[host.number];
  std::erase_if(changed, [&](const Bytes& id) {
    if (is_half_changed(host, id)) return false;
    world().reached(
        rows_of(host, Tables::kDropped).contains(id)      ? "dropped: settled, left as it was"
        : rows_of(host, Tables::kTombstones).contains(id) ? "dropped: settled, purged"
                                                          : "dropped: settled, given back");
    return true;
  });
  if (!starts) return;
  for (const auto& [id, row] : rows_of(host, Tables::kDropped))
    if (is_half_changed(host, id) && changed.insert(id).second)
      world().reached("dropped: half changed when a server starts");
}

void look_at_half_refreshed(const Host& host, bool starts) {
  const StoredRefresh now = refresh_of(host);
  auto& waiting = half_refreshed[host.number];
  const bool half = now.other == StoredRefresh::Other::kComplete;
  if (waiting && (!half || now.is.epoch != *waiting)) {
    world().reached(now.is.epoch > *waiting ? "refresh: settled, done"
                                            : "refresh: settled, not done");
    waiting.reset();
  }
  if (!starts || !half || waiting) return;
  waiting = now.is.epoch;
  world().reached("refresh: half done when a server starts");
}

void look_at_half_moved(const Host& host, bool starts) {
  const Moves now = moves_of(host);
  std::uint32_t& waiting = half_moved[host.number];
  if (waiting != 0 && now.prepared != waiting) {
    world().reached(now.last >= waiting ? "move: settled, made" : "move: settled, not made");
    waiting = 0;
  }
  if (!starts || now.prepared == 0 || waiting != 0) return;
  waiting = now.prepared;
  world().reached("move: half made when a server starts");
}

}  // namespace

std::span<const char* const> states() { return kStates; }

bool is_a_state(const std::string& name) {
  return std::ranges::find(kStates, name) != std::end(kStates);
}

void new_coverage() {
  for (auto& ids : half_made) ids.clear();
  for (auto& ids : half_removed) ids.clear();
  for (auto& ids : half_changed) ids.clear();
  for (auto& epoch : half_refreshed) epoch.reset();
  for (auto& number : half_moved) number = 0;
}

void hear(std::string_view text) {
  for (const Heard& one : kHeard) {
    if (!text.starts_with(one.head) || text.find(one.within) == std::string_view::npos) continue;
    return world().reached(one.state);
  }
}

void look_at_half_made(int server, bool starts) {
  std::set<Bytes>&made = half_made[server], &removed = half_removed[server];
  settled(server, made, Tables::kPrepared, "bind: settled, made", "bind: settled, not made");
  settled(server, removed, Tables::kCondemned, "destroy: settled, kept",
          "destroy: settled, removed");
  const Host& host = world().hosts[static_cast<std::size_t>(server)];
  look_at_half_changed(host, starts);
  look_at_half_refreshed(host, starts);
  if (world().plan.of_two()) look_at_half_moved(host, starts);
  if (!starts) return;
  const TableSet& tables = disk_of(host).tables;
  for (const auto& [id, value] : tables[Tables::kPrepared])
    if (made.insert(id).second) world().reached("bind: half made when a server starts");
  for (const auto& [id, value] : tables[Tables::kCondemned])
    if (removed.insert(id).second) world().reached("destroy: half removed when a server starts");
}

}  // namespace tkdc::sim
