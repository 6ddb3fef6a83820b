// SPDX-License-Identifier: Apache-2.0
#include "sim/two_faults.h"

#include "base/hex.h"
#include "sim/faults.h"
#include "sim/liar.h"
#include "sim/realm.h"
#include "sim/stores.h"
#include "sim/two.h"
#include "sim/upkeep.h"

namespace tkdc::sim {
namespace {

constexpr Us kWaits = 20 * kSecond;  // for the step, and no longer
constexpr std::int64_t kMostBefore = 4, kMostReads = 40;
constexpr std::int64_t kSteps = static_cast<std::int64_t>(Step::kKey);  // that there are
constexpr std::int64_t kBoth = 2;                                       // in the place of a party

// The store whose administrator has changed it.
struct Changed {
  int party = -1;  // nobody's
  Bytes id;
  KeyRecord right;
  bool bits = false;  // of its share; else the principal that it says the key is of
};
Changed changed;

ServerHost& server(std::int64_t party) {
  return *realm().servers[static_cast<std::size_t>(party) % realm().servers.size()];
}

bool is_for(std::int64_t who, const ServerHost& which) {
  return who == kBoth || who == which.host().number;
}

bool waits(const ServerHost& which) {
  return which.up() && disk_of(which.host()).step.step != Step::kNone;
}

bool either_waits() {
  return std::ranges::any_of(realm().servers, [](const auto& one) { return waits(*one); });
}

void boot_later(ServerHost& which, Us after) {
  world().fibers.start(world().nature, [&which, after] {
    world().sleep(after);
    boot_when_ended(which);
  });
}

// b: which step, how many of them go well before, and whether it fails or the server crashes there.
void fail_at_step(const Fault& fault) {
  const auto step = static_cast<Step>(1 + fault.b % kSteps);
  const std::int64_t before = fault.b / kSteps % kMostBefore;
  const bool crashes = fault.b / kSteps / kMostBefore % 2 == 1;
  const bool of_refresh = step == Step::kPool || step == Step::kMove || step == Step::kRefresh;
  if (of_refresh && world().random.percent(70)) (void)ask_shares(server(fault.a), "refresh");
  for (const auto& one : realm().servers)
    if (is_for(fault.a, *one))
      disk_of(one->host()).step = {step, static_cast<int>(before), crashes};
  world().wait(kWaits, [] { return !either_waits() || world().calm; });
  for (const auto& one : realm().servers) {
    if (!is_for(fault.a, *one)) continue;
    disk_of(one->host()).step = {};
    if (one->host().dead) boot_later(*one, fault.c * kMs);
  }
}

// Of the same room: what neither has on its disk nobody has.
void both_down(const Fault& fault) {
  for (const auto& one : realm().servers) {
    if (!one->up()) continue;
    crash(one->host(), fault.b % 2 == 0);
    boot_later(*one, fault.c * kMs + static_cast<Us>(world().random.below(3 * kSecond)));
  }
}

// Once it has begun: a list that is cut short is none of all keys.
void fail_reads(const Fault& fault) {
  if (!ask_shares(server(fault.a), "refresh")) return;
  const Host& host = server(world().random.between(0, 1)).host();
  const Us until = world().now() + kWaits;
  while (!is_refreshing(host) && world().now() < until && !world().calm) world().sleep(5 * kMs);
  if (!is_refreshing(host) || world().calm) return;
  HostDisk& disk = disk_of(host);
  disk.reads_before = static_cast<int>(fault.b);
  disk.reads_failing = 1;
}

void stop_for(ServerHost& which, const std::function<void()>& what) {
  which.in_repair = true;
  crash(which.host(), false);
  world().wait(kNever, [&] { return which.ended(); });
  what();
  which.in_repair = false;
  which.boot();
}

void put_row(const Host& host, const KeyRecord& record) {
  disk_of(host).tables[Tables::kCommitted][changed.id] = row_of(host, record);
}

void change_a_record(ServerHost& which, bool bits) {
  Random& random = world().random;
  std::vector<Bytes> ids;
  for (const auto& key : realm().model.keys) {
    const Bytes id(key->ref.id.begin(), key->ref.id.end());
    if (key->state == Key::State::kBound && record_of(which.host(), id)) ids.push_back(id);
  }
  if (ids.empty() || world().calm || liar().has_lied) return;
  changed = {which.host().number, ids[random.below(ids.size())], {}, bits};
  KeyRecord record = *record_of(which.host(), changed.id);
  changed.right = record;
  if (bits) {
    auto field = record.fields.begin();
    std::advance(field, static_cast<std::ptrdiff_t>(random.below(record.fields.size())));
    SecretVector& own = field->second.component[0];
    own[random.below(own.size())] ^= static_cast<std::uint8_t>(1u << random.below(8));
  } else {
    record.ref.principal[random.below(record.ref.principal.size())] ^= 1;
  }
  put_row(which.host(), record);
  liar() = {};
  liar().server = which.host().number;
  liar().has_lied = true;
  world().injected("lie about a record");
  world().note(which.host().name, "has another record of key " + to_hex(changed.id).substr(0, 8));
}

void change_store(const Fault& fault) {
  ServerHost& which = server(fault.a);
  if (!which.up() || which.in_repair || liar().has_lied || old_store_in_place()) return;
  stop_for(which, [&] { change_a_record(which, fault.b % 2 == 1); });
}

// It may have moved meanwhile, with what was changed in it, but not with other bits.
void right_the_record(const Host& host) {
  auto now = record_of(host, changed.id);
  if (!now || (changed.bits && now->version != changed.right.version)) return;
  now->ref = changed.right.ref;
  if (changed.bits) now->fields = changed.right.fields;
  put_row(host, *now);
  world().note(host.name, "has what it had");
}

std::int64_t some_step(Random& r) { return r.between(0, 2 * kSteps * kMostBefore - 1); }
std::int64_t some_reads(Random& r) { return r.between(0, kMostReads); }
std::int64_t coin(Random& r) { return r.between(0, 1); }

struct Kind {
  const char* name;
  unsigned chance;
  int often;
  std::int64_t most_a;
  std::int64_t (*b)(Random&);
};
constexpr Kind kKinds[] = {
    {"step", 50, 10, kBoth, some_step},
    {"both down", 35, 3, 0, coin},
    {"reads in refresh", 35, 8, 1, some_reads},
};

}  // namespace

void add_faults_of_two(std::vector<Fault>& faults, Random& random, std::int64_t last_ms) {
  for (const Kind& kind : kKinds) {
    if (!random.percent(kind.chance)) continue;
    for (auto left = random.between(1, kind.often); left > 0; --left)
      faults.push_back({random.between(500, last_ms), kind.name, random.between(0, kind.most_a),
                        kind.b(random), random.between(1, 6'000)});
  }
}

bool make_fault_of_two(const Fault& fault) {
  if (fault.kind == "step") {
    fail_at_step(fault);
  } else if (fault.kind == "both down") {
    both_down(fault);
  } else if (fault.kind == "reads in refresh") {
    fail_reads(fault);
  } else if (fault.kind == "changed store") {
    change_store(fault);
  } else {
    return false;
  }
  return true;
}

void mend_two() {
  for (const auto& one : realm().servers) disk_of(one->host()).step = {};
  if (changed.party < 0) return;
  ServerHost& which = server(changed.party);
  stop_for(which, [&which] { right_the_record(which.host()); });
  changed.party = -1;
}

void new_two_faults() { changed = {}; }

}  // namespace tkdc::sim
