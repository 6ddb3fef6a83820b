// SPDX-License-Identifier: Apache-2.0
#include "sim/dropped.h"

#include <algorithm>

#include "base/hex.h"
#include "base/machine.h"
#include "service/export/give_back.h"
#include "service/wire/key_list.h"
#include "sim/approvals.h"
#include "sim/asking.h"
#include "sim/repairs.h"
#include "sim/stores.h"

namespace tkdc::sim {
namespace {

using State = Key::State;
using Dropped = std::vector<ListedDropped>;

int changes_asked = 0;  // in this program

bool is_of(const ListedDropped& one, const Key& key) { return one.key.id == key.ref.id; }

const ListedDropped* find(const Dropped& list, const Key& key) {
  const auto at = std::ranges::find_if(list, [&](const auto& one) { return is_of(one, key); });
  return at == list.end() ? nullptr : &*at;
}

// Kept, as far as kadmin was told.
bool is_dropped(const Key& key) {
  return key.state == State::kGone && key.buried && !key.asked_to_purge;
}

// What all three say alike, against what kadmin was told. None: no answer.
std::optional<Dropped> list_dropped() {
  std::vector<std::pair<const Key*, int>> sure;
  for (const auto& key : realm().model.keys)
    if (!key->at_work) sure.emplace_back(key.get(), key->changes);
  const KeyId all{};
  const Answer answer = admin().ask(TKDC_OP_LIST_DROPPED, Bytes(all.begin(), all.end()));
  if (!ok(answer)) return std::nullopt;
  auto page = decode_dropped_list(answer.outcome.output);
  if (!page.ok() || page->more) {
    world().broken("dropped", "the list of dropped keys cannot be read");
    return std::nullopt;
  }
  for (const auto& [key, changes] : sure) {
    if (key->at_work || key->changes != changes) continue;
    const bool listed = find(page->keys, *key) != nullptr;
    if (is_dropped(*key) && !listed)
      world().broken("dropped", "no list has the dropped key of " + named(*key));
    if ((key->state == State::kBound || key->purged) && listed)
      world().broken("dropped", "a list has as dropped the key of " + named(*key));
  }
  return std::move(page->keys);
}

// While one asks for a change of it, nobody else does.
Answer ask_about(Key& key, tkdc_wire_op op) {
  Bytes body;
  Writer w(body);
  put_key(w, key.ref);
  ++key.changes;
  ++changes_asked;
  key.at_work = true;
  Answer answer = admin().ask(op, body);
  key.at_work = false;
  return answer;
}

void purge(Key& key) {
  const bool sure = is_dropped(key);
  key.asked_to_purge = true;
  const Answer answer = ask_about(key, TKDC_OP_PURGE);
  if (ok(answer)) {
    key.purged = true;
    world().reached("dropped: purged");
  } else if (refused(answer)) {
    key.asked_to_purge = !sure;
    if (sure)
      world().broken("answers", "a purge of the dropped key of " + named(key) +
                                    " was refused: " + answer.outcome.message);
  } else {
    world().reached("dropped: nobody was told");
  }
}

// At each server by its own administrator; one may be left out.
void allow(Key& key, const ListedDropped& one) {
  GiveBackRequest request;
  request.installation = kInstallation;
  request.realm = "R";
  request.expires_at_s = wall_s() + 3600;
  request.keys.push_back({{key.ref.id, key.ref.kvno, key.ref.enctype, key.principal}, one.at_s});
  const std::string text = encode(request);
  const Approvals approvals = some_approvals(give_back_digest(text));
  const std::size_t left_out =
      world().random.percent(20) ? world().random.below(kServers) : kServers;
  for (std::size_t p = 0; p < kServers; ++p) {
    if (p == left_out) continue;
    const bool sure = is_dropped(key);
    const Us asked_at = world().now();
    auto answer = realm().servers[p]->ask({LocalOp::kGiveBack, text, approvals.texts});
    const bool said = answer.has_value(), yes = said && answer->ok();
    if (yes && !approvals.good)
      world().broken("dropped", "a key may be given back without two approvals");
    // Who died over it may have taken it.
    if (approvals.good && (yes || !said)) key.allowed[p] = true;
    const bool unknown = said && !yes && answer->error().message.find("the request lists") == 0;
    const bool whole = was_whole_since(asked_at) && !world().injected_.contains("old store");
    if (unknown && sure && is_dropped(key) && whole)
      world().broken("dropped", realm().servers[p]->host().name + ": " + answer->error().message);
  }
}

void give_back(Key& key) {
  const bool allowed = std::ranges::all_of(key.allowed, [](bool may) { return may; });
  if (!allowed) world().reached("dropped: asked back without approval");
  key.state = State::kUnsure;
  const Answer answer = ask_about(key, TKDC_OP_GIVE_BACK);
  if (ok(answer)) {
    if (key.purged) world().broken("dropped", "what was purged came back: " + named(key));
    if (!allowed)
      world().broken("dropped", "given back without two administrators' word: " + named(key));
    key.state = State::kBound;
    key.buried = key.asked_to_purge = false;
    key.allowed = {};
    key.back_since = world().now();
    world().reached("dropped: given back");
  } else if (refused(answer)) {
    key.state = State::kGone;
  } else {
    key.buried = false;
    world().reached("dropped: nobody was told");
  }
}

}  // namespace

void change_a_dropped_key() {
  auto list = list_dropped();
  if (!list) return;
  std::vector<Key*> some;
  for (const auto& key : realm().model.keys)
    if (key->state == State::kGone && key->buried && !key->at_work) some.push_back(key.get());
  if (some.empty()) return;
  Key& key = *some[world().random.below(some.size())];
  const ListedDropped* const listed = find(*list, key);
  const auto what = world().random.below(10);
  // What is not listed was purged: it is asked back all the same.
  if (listed == nullptr) return give_back(key);
  if (what < 3) return purge(key);
  if (what < 9) allow(key, *listed);
  if (key.state == State::kGone && !key.at_work) give_back(key);
}

int dropped_changes() { return changes_asked; }

void judge_dropped() {
  for (auto& server : realm().servers) {
    const Host& host = server->host();
    for (const auto& [id, row] : rows_of(host, Tables::kDropped))
      if (dropped_in(row).state != DroppedState::kDropped)
        world().broken("stores", host.name + " has a dropped key that is half changed");
    for (const auto& key : realm().model.keys) {
      const Bytes id(key->ref.id.begin(), key->ref.id.end());
      if (!key->purged) continue;
      if (!rows_of(host, Tables::kTombstones).contains(id) ||
          rows_of(host, Tables::kDropped).contains(id) ||
          rows_of(host, Tables::kCommitted).contains(id))
        world().broken("keys",
                       "the key of " + named(*key) + " was purged, and is still at " + host.name);
    }
  }
}

}  // namespace tkdc::sim
