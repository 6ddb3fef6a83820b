// SPDX-License-Identifier: Apache-2.0
#include "sim/repairs.h"

#include <map>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "service/store/meta_values.h"
#include "sim/answers.h"
#include "sim/faults.h"
#include "sim/liar.h"
#include "sim/realm.h"
#include "sim/stores.h"

namespace tkdc::sim {
namespace {

constexpr Us kDealt = 20 * kSecond;   // MACs that are lacking, before the disk is lost
constexpr Us kAlone = 6 * kSecond;    // one survivor's word, without the other's
constexpr Us kFinish = 90 * kSecond;  // from the last fault on

// fault.b of a lost disk: nobody lies; a survivor's store has something else in it; a survivor
// changes what it sends.
enum Lie : std::int64_t {
  kNoLie = 0,
  kPrevStore = 2,
  kNextStore = 3,
  kPrevSends = 4,
  kNextSends = 5
};

// What all three together have of one key.
using Values = std::map<std::string, SecretVector>;

struct Loss {
  int party = -1;  // whose disk; -1: nobody's
  std::array<StoreCopy, kServers> stores;
  std::map<Bytes, Values> values;
  std::uint32_t epoch = 0;  // of refreshes, at the survivors
  Fingerprint before{};
  // A survivor's row that was changed, as it was.
  int liar = -1;
  Bytes changed, right_row;
  bool held_back = false;  // one survivor's administrator has not approved yet
  bool begun = false;
  std::string log;  // of audits
};
Loss loss;
Us whole_since = 0;
std::array<bool, kServers> repairing{};
std::map<int, std::vector<std::string>> lost_logs;
std::array<int, kServers> disks{};

ServerHost& server(int party) { return *realm().servers[static_cast<std::size_t>(party % 3)]; }
ServerHost& newcomer() { return server(loss.party); }
int survivor(int which) { return (loss.party + (which == 0 ? 2 : 1)) % kServers; }

void add(Values& out, const std::string& field, const SecretVector& component) {
  SecretVector& sum = out[field];
  if (sum.empty()) sum.resize(component.size());
  if (sum.size() == component.size()) xor_bytes(sum.data(), component.data(), sum.size());
}

// Of two servers' records, the second of which is the next one: they have all components. None:
// what they share is not the same.
std::optional<Values> combined(const KeyRecord& one, const KeyRecord& next) {
  Values out;
  if (one.version != next.version || one.fields.size() != next.fields.size()) return std::nullopt;
  for (const auto& [field, value] : one.fields) {
    const auto other = next.fields.find(field);
    if (other == next.fields.end() || other->second.component[0] != value.component[1])
      return std::nullopt;
    for (const SecretVector* part :
         {&value.component[0], &value.component[1], &other->second.component[1]})
      add(out, field, *part);
  }
  return out;
}

// Each record at both survivors has MACs by one key, or nobody could repair.
bool has_macs(int lost) {
  const Host& prev = server(lost + 2).host();
  const Host& next = server(lost + 1).host();
  if (refresh_of(prev).is.epoch != refresh_of(next).is.epoch) return false;
  const Table& rows = rows_of(prev, Tables::kCommitted);
  if (rows.size() != rows_of(next, Tables::kCommitted).size()) return false;
  for (const auto& [id, row] : rows) {
    const auto record = record_of(prev, id);
    const auto one = macs_of(prev, id), other = macs_of(next, id);
    if (!record || !one || !other || one->key != other->key || one->version != record->version)
      return false;
  }
  return true;
}

void remember(int party) {
  loss = {};
  loss.party = party;
  loss.before = server(party).certificate();
  for (int p = 0; p < kServers; ++p)
    loss.stores[static_cast<std::size_t>(p)] = disk_of(server(p).host()).copy_store();
  const int next = (party + 1) % kServers;
  loss.epoch = refresh_of(server(next).host()).is.epoch;
  const StoreView lost =
      view_of(server(party).host(), loss.stores[static_cast<std::size_t>(party)]);
  for (const auto& [id, row] : rows_in(lost, Tables::kCommitted)) {
    const auto one = record_in(lost, id);
    const auto other = record_of(server(next).host(), id);
    if (!one || !other) continue;
    if (auto values = combined(*one, *other)) loss.values[id] = std::move(*values);
  }
}

// Where a server is down, in good order, and nobody else starts it. False: it is not his turn.
bool while_down(ServerHost& which, const std::function<void()>& what) {
  if (which.in_repair) return false;
  which.in_repair = true;
  which.stop();
  world().wait(kNever, [&which] { return which.ended(); });
  what();
  which.in_repair = false;
  which.boot();
  return true;
}

std::string ask(ServerHost& which, const std::string& words, nlohmann::json& state) {
  auto answer = which.ask({LocalOp::kRepair, words, {}});
  state = nullptr;
  if (!answer) return "nobody answered";
  if (!answer->ok()) return answer->error().message;
  state = nlohmann::json::parse((*answer)->begin(), (*answer)->end(), nullptr, false);
  return "";
}

bool has(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

// ---- lies

// It has another component than the lost server dealt MACs for, in all that it says and does.
void change_a_component(ServerHost& which) {
  Random& random = world().random;
  const bool is_prev = which.host().number == survivor(0);
  std::vector<Bytes> ids;
  for (const auto& [id, values] : loss.values)
    if (rows_of(which.host(), Tables::kCommitted).contains(id)) ids.push_back(id);
  if (ids.empty()) return;
  const Bytes& id = ids[random.below(ids.size())];
  auto record = record_of(which.host(), id);
  if (!record || record->fields.empty()) return;
  auto field = record->fields.begin();
  std::advance(field, static_cast<std::ptrdiff_t>(random.below(record->fields.size())));
  SecretVector& component = field->second.component[is_prev ? 1 : 0];
  if (component.empty()) return;
  component[random.below(component.size())] ^= static_cast<std::uint8_t>(1u << random.below(8));
  auto& row = const_cast<Table&>(rows_of(which.host(), Tables::kCommitted))[id];
  loss.liar = which.host().number;
  loss.changed = id;
  loss.right_row = std::exchange(row, row_of(which.host(), *record));
  world().injected("lie about a component");
  world().note(which.host().name, "has another component of key " + to_hex(id).substr(0, 8));
}

void tell_the_truth() {
  ServerHost& which = server(loss.liar);
  while_down(which, [&which] {
    const_cast<Table&>(rows_of(which.host(), Tables::kCommitted))[loss.changed] = loss.right_row;
    world().note(which.host().name, "has what it had");
    loss.liar = -1;
  });
}

void begin_to_lie(std::int64_t how) {
  if (liar().server >= 0 || (how != kPrevSends && how != kNextSends)) return;
  Random& random = world().random;
  liar() = {};
  liar().server = survivor(how == kPrevSends ? 0 : 1);
  liar().left = static_cast<int>(random.between(1, 3));
  liar().one_in = static_cast<unsigned>(random.between(1, 60));
  liar().to_servers = liar().in_repairs = true;
}

// ---- what must be true

bool lies(int party) { return (liar().has_lied && liar().server == party) || loss.liar == party; }

// The new machine and one who tells the truth have all components; those are the key.
void judge_repaired() {
  for (int which = 0; which < 2; ++which) {
    const int other = survivor(which);
    if (lies(other) || lies(loss.party)) continue;
    const Host& one = server(which == 0 ? other : loss.party).host();
    const Host& next = server(which == 0 ? loss.party : other).host();
    for (const auto& [id, values] : loss.values) {
      const auto a = record_of(one, id), b = record_of(next, id);
      if (!a && !b) continue;
      const std::string key = "key " + to_hex(id).substr(0, 8);
      if (!a || !b) return world().broken("repair", key + " is at one server only");
      const auto now = combined(*a, *b);
      if (!now || *now != values)
        return world().broken("repair", key + " is another one since server " +
                                            std::to_string(loss.party) + " was repaired");
    }
  }
}

void judge_beginning(const char* who) {
  const Host& host = newcomer().host();
  if (loss.held_back &&
      (repairing[static_cast<std::size_t>(loss.party)] || !rows_of(host, Tables::kNext).empty()))
    world().broken("repair", std::string("a repair has begun without ") + who);
}

// ---- what administrators do

// Each by himself: from here on this server goes by the new machine's certificate.
void trust_the_new_one(int party, std::int64_t lie) {
  ServerHost& which = server(party);
  const bool is_liar = party == survivor(0) ? lie == kPrevStore : lie == kNextStore;
  while (loss.party >= 0 && !while_down(which, [&] {
           which.trust(loss.party, newcomer().certificate());
           if (is_liar) change_a_component(which);
         }))
    world().sleep(kSecond);
}

// A former administrator's habit, or a thief's wish: it must not start.
void try_the_old_certificate(ServerHost& which) {
  if (!knows_certificate(which.host(), loss.before) || world().injected_.contains("old store"))
    return;
  const int lost = loss.party;
  if (!while_down(which, [&] { which.trust(lost, loss.before); })) return;
  world().wait(20 * kSecond, [&] {
    return which.up() || has(which.trouble(), "refused for good") || loss.party < 0;
  });
  if (which.up())
    world().broken("repair", which.host().name + " goes by the certificate that was lost");
  else
    world().reached("repair: an old certificate is refused");
  while (!world().failed() &&
         !while_down(which, [&] { which.trust(lost, server(lost).certificate()); }))
    world().sleep(kSecond);
}

// The three stores of the moment of the loss: a backup of each.
void put_back_all() {
  world().note("operator", "puts back a backup of all three stores");
  world().reached("repair: backups are put back instead");
  // No repair is over that would say so in the others' logs.
  lost_logs[loss.party].push_back(loss.log);
  const auto stores = loss.stores;
  for (auto& one : realm().servers) {
    world().wait(kNever, [&one] { return !one->in_repair; });
    one->in_repair = true;
    one->stop();
  }
  for (auto& one : realm().servers) world().wait(kNever, [&one] { return one->ended(); });
  for (std::size_t p = 0; p < kServers; ++p) {
    const Host& host = realm().servers[p]->host();
    put_back_store(host, stores[p], true);
    // As a restored store, which is of another log than that which is there.
    disk_of(host).tables[Tables::kMeta].erase(
        Bytes(meta::kAuditHead.begin(), meta::kAuditHead.end()));
  }
  loss.party = loss.liar = -1;
  for (auto& one : realm().servers) {
    one->in_repair = false;
    one->boot();
  }
  whole_since = world().now();
}

// `tkdc refresh --undo`, on a stopped server.
bool undo_refresh(ServerHost& which) {
  bool done = false;
  while_down(which, [&] {
    which.work_on_disk([&] {
      auto store = which.open_store();
      done = store.ok() && (*store)->refresh()->undo_refresh().ok();
    });
  });
  if (done) world().reached("repair: a refresh is undone first");
  return done;
}

void undo_at_both() {
  const bool one = undo_refresh(server(survivor(0))), other = undo_refresh(server(survivor(1)));
  if (one && other)
    loss.epoch = refresh_of(server(survivor(0)).host()).is.epoch;
  else if (one != other)
    put_back_all();
}

// What ended a repair, and what is to be done so that it begins anew.
void mend(ServerHost& which, const std::string& trouble) {
  world().reached("repair: ended in trouble");
  if (has(trouble, "restore the lost server's backup") || has(trouble, "restore the store from"))
    return put_back_all();
  if (has(trouble, "refresh --undo")) return undo_at_both();
  if (loss.liar >= 0 && has(trouble, "is not what the lost server dealt MACs for")) {
    world().reached("repair: a lie is noticed");
    tell_the_truth();
  }
  if (liar().has_lied) world().reached("repair: a lie is noticed");
  while_down(which, [] {});
}

void say(ServerHost& which) {
  const int party = which.host().number;
  const std::string hex = to_hex(newcomer().certificate());
  nlohmann::json state;
  const std::string why =
      party == loss.party ? ask(which, "accept " + hex, state)
                          : ask(which, "approve " + std::to_string(loss.party) + " " + hex, state);
  if (loss.party < 0) return;
  if (why.empty()) {
    world().note("operator", "the repair is approved at " + which.host().name);
    world().reached("repair: approved");
    if (party != loss.party && world().random.percent(15)) try_the_old_certificate(which);
  } else if (has(why, "have no MACs here")) {
    put_back_all();
  } else if (party != loss.party && has(why, "goes by the certificate")) {
    trust_the_new_one(party, kNoLie);
  } else if (party == loss.party && has(why, "have a session")) {
    loss.party = -1;  // no server had a key
    whole_since = world().now();
  }
}

void look_after(ServerHost& which) {
  nlohmann::json state;
  if (!ask(which, "status", state).empty() || !state.is_object() || loss.party < 0) return;
  if (state["under_way"] == true) {
    if (!std::exchange(loss.begun, true)) world().reached("repair: begun");
    if (state.contains("trouble") && state["running"] == false && world().random.percent(30))
      mend(which, state["trouble"]);
    return;
  }
  const bool offered = state.contains("order") && state["order"]["offered"] == true;
  if (!offered) say(which);
}

bool is_done() {
  const std::uint32_t is = refresh_of(newcomer().host()).is.epoch;
  const std::size_t keys = rows_of(newcomer().host(), Tables::kCommitted).size();
  if (is <= loss.epoch) return false;
  for (int which = 0; which < 2; ++which) {
    const Host& other = server(survivor(which)).host();
    if (refresh_of(other).is.epoch != is || rows_of(other, Tables::kCommitted).size() != keys)
      return false;
  }
  return true;
}

void run_repair(bool one_is_late) {
  const int late = survivor(static_cast<int>(world().random.below(2)));
  loss.held_back = one_is_late;
  Us until = kNever;
  while (loss.party >= 0 && !world().failed()) {
    world().sleep(300 * kMs + static_cast<Us>(world().random.below(700 * kMs)));
    if (loss.party < 0) break;
    judge_beginning("both survivors' approval");
    if (loss.held_back && until == kNever && !newcomer().in_repair) until = world().now() + kAlone;
    if (loss.held_back && world().now() > until) {
      loss.held_back = false;
      world().reached("repair: one approval was not enough");
    }
    if (is_done()) {
      judge_repaired();
      world().reached("repair: done");
      world().note("operator", newcomer().host().name + " is repaired");
      loss.party = -1;
      whole_since = world().now();
      return;
    }
    const int party = static_cast<int>(world().random.below(kServers));
    if (loss.held_back && party == late) continue;
    if (server(party).up() || !server(party).trouble().empty()) look_after(server(party));
  }
}

}  // namespace

void new_repairs() {
  loss = {};
  whole_since = 0;
  repairing = {};
  lost_logs.clear();
  disks = {};
}

bool repair_is_due() { return loss.party >= 0; }
bool was_whole_since(Us time) { return loss.party < 0 && whole_since <= time; }

void hear_of_repair(int server, std::string_view text) {
  if (server >= kServers) return;
  const bool up = text.starts_with("session ") && text.find(" up: ") != std::string_view::npos;
  if (up)
    repairing[static_cast<std::size_t>(server)] =
        text.find("for the repair of") != std::string_view::npos;
  else if (text.starts_with("no session"))
    repairing[static_cast<std::size_t>(server)] = false;
}

bool is_repairing(int server) { return repairing[static_cast<std::size_t>(server)]; }

void lose_disk(const Fault& fault) {
  const int party = static_cast<int>(fault.a % kServers);
  ServerHost& which = server(party);
  if (!world().plan.macs || repair_is_due() || old_store_in_place()) return;
  // MACs that a fault has kept from being dealt are dealt first.
  if (!has_macs(party)) {
    (void)server(party + 1).ask({LocalOp::kShares, "deal", {}});
    world().wait(kDealt, [party] { return has_macs(party) || world().calm; });
  }
  if (world().calm || repair_is_due() || old_store_in_place()) return;
  if (which.in_repair || !has_macs(party)) return;
  which.in_repair = true;
  crash(which.host(), true);
  remember(party);
  world().wait(kNever, [&which] { return which.ended(); });
  HostDisk& disk = disk_of(which.host());
  loss.log = disk.text(which.config().audit_file);
  // Of no key there is nothing to repair: a survivor that nobody has asked yet makes a session with
  // the new server as with the old one, and has no line that says which log is gone.
  if (rows_of(server(survivor(0)).host(), Tables::kCommitted).empty())
    lost_logs[party].push_back(loss.log);
  ++disks[static_cast<std::size_t>(party)];
  disk = {};
  begin_log_anew(party);
  disk.limit = world().plan.record_limit;
  which.renew_certificate();
  world().note("fault", which.host().name + "'s disk is lost for good");
  world().injected("disk lost");
  begin_to_lie(fault.b);
  for (int one = 0; one < 2; ++one)
    world().fibers.start(world().nature, [party = survivor(one), lie = fault.b] {
      world().sleep(static_cast<Us>(world().random.below(5 * kSecond)));
      if (loss.party >= 0) trust_the_new_one(party, lie);
    });
  const bool one_is_late = world().random.percent(30);
  world().wait(fault.c * kMs, [] { return world().calm; });
  which.in_repair = false;
  which.boot();
  run_repair(one_is_late);
}

bool wait_for_repair() {
  world().wait(60 * kSecond,
               [] { return world().calm || (loss.party >= 0 && is_repairing(loss.party)); });
  return !world().calm && loss.party >= 0 && is_repairing(loss.party);
}

void finish_repair() {
  if (!world().wait(kFinish, [] { return loss.party < 0 || world().failed(); }))
    world().broken("liveness", "a repair did not come to its end for 90 s after the last fault");
}

int disks_lost(int server) { return disks[static_cast<std::size_t>(server)]; }

const std::vector<std::string>& lost_audit_logs(int server) { return lost_logs[server]; }

}  // namespace tkdc::sim
