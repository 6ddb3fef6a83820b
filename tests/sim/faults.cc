// SPDX-License-Identifier: Apache-2.0
#include "sim/faults.h"

#include <algorithm>
#include <map>

#include "sim/dropped.h"
#include "sim/floods.h"
#include "sim/garbling.h"
#include "sim/honest.h"
#include "sim/liar.h"
#include "sim/lying_agent.h"
#include "sim/realm.h"
#include "sim/repairs.h"
#include "sim/store_keys.h"
#include "sim/stores.h"
#include "sim/two_faults.h"
#include "sim/upkeep.h"

namespace tkdc::sim {
namespace {

ServerHost& server(std::int64_t party) {
  return *realm().servers[static_cast<std::size_t>(party % world().servers())];
}

// Where there is one KDC, its own stands for the second one's.
Agent& agent_on(std::int64_t host) {
  for (Agent* agent : realm().agents())
    if (agent->host().number == host) return *agent;
  return *realm().kdcs.front();
}

// What is undone later, by virtual time.
void later(std::int64_t ms, std::function<void()> what) {
  world().fibers.start(world().nature, [ms, what = std::move(what)] {
    world().sleep(ms * kMs);
    if (!world().calm) what();
  });
}

// Crashes of all kinds; started again after so long.
void down(const Fault& fault, bool power) {
  ServerHost& which = server(fault.a);
  if (!which.up()) return;
  crash(which.host(), power);
  later(fault.c, [&which] { boot_when_ended(which); });
}

// It crashes when it next has done so much; until then it works.
void crash_later(const Fault& fault, std::int64_t Host::*at) {
  Host& host = server(fault.a).host();
  if (host.dead) return;
  host.*at = fault.b;
  world().fibers.start(world().nature, [&host, fault, at] {
    world().wait(20 * kSecond, [&] { return host.dead || world().calm; });
    host.*at = -1;
    if (!host.dead || world().calm) return;
    world().sleep(fault.c * kMs);
    if (!world().calm) boot_when_ended(server(fault.a));
  });
}

// The same commit fails at two servers, and then the third cannot read whether it has that key.
void fail_at_all(const Fault& fault) {
  HostDisk& one = disk_of(server(fault.a + 1).host());
  HostDisk& two = disk_of(server(fault.a + 2).host());
  for (HostDisk* disk : {&one, &two}) {
    disk->commits_before = static_cast<int>(fault.b);
    disk->commits_failing = 1;
  }
  world().wait(20 * kSecond, [&] {
    return (one.commits_failing == 0 && two.commits_failing == 0) || world().calm;
  });
  if (world().calm) return;
  disk_of(server(fault.a).host()).reads_before = static_cast<int>(fault.c);
  disk_of(server(fault.a).host()).reads_failing = 1;
}

// Servers crash in their next transactions: some of them, or all.
void crash_in_transactions(const Fault& fault, std::int64_t most) {
  const std::int64_t which = fault.b / most % 7 + 1;
  for (std::int64_t party = 0; party < world().servers(); ++party)
    if ((which >> party & 1) != 0)
      crash_later({fault.at_ms, fault.kind, party, fault.b % most, fault.c},
                  &Host::crash_at_commit);
}

void crash_in_repair(const Fault& fault) {
  if (wait_for_repair()) crash_in_transactions(fault, kCommitsOfRefresh);
}

void crash_in_refresh(const Fault& fault) {
  if (ask_shares(server(fault.a), "refresh")) crash_in_transactions(fault, kCommitsOfRefresh);
}

void slow_down(Host& host, Us by, Us time) {
  host.slow_by = by;
  host.slow_until = world().now() + time;
  world().injected("slow threads");
}

// Some commit while others' threads stand still, and tickets go on at all.
void slow_refresh(const Fault& fault) {
  if (!ask_shares(server(fault.a), "refresh")) return;
  for (auto& one : realm().servers) slow_down(one->host(), fault.b * kMs, 10 * kSecond);
}

// When a dropped key is next purged or given back.
void crash_in_change(const Fault& fault) {
  const int before = dropped_changes();
  if (world().wait(30 * kSecond, [before] { return dropped_changes() != before; }))
    crash_in_transactions(fault, kCommitsOfChange);
}

// It loses its power, and again while it starts: what it writes first is what it found.
void down_twice(const Fault& fault) {
  ServerHost& which = server(fault.a);
  HostDisk& disk = disk_of(which.host());
  // Amid a line that it writes, if it writes one soon.
  disk.tears = fault.b % 2 == 0 && world().wait(5 * kSecond, [&] { return disk.has_unsynced(); });
  if (!which.up() || world().calm) return;
  crash(which.host(), true);
  world().wait(kNever, [&] { return which.ended() || world().calm; });
  if (!which.ended() || which.in_repair || world().calm) return;
  which.boot();
  // At its first syncs, or anywhere.
  std::int64_t Host::*at = fault.b % 2 == 0 ? &Host::crash_at_sync : &Host::crash_at_disk;
  which.host().*at = fault.b % 2 == 0 ? fault.b / 2 % 2 : fault.b % 16;
  world().wait(20 * kSecond, [&] { return which.host().dead || world().calm; });
  which.host().*at = -1;
  world().sleep(fault.c * kMs);
  if (which.host().dead && !world().calm) boot_when_ended(which);
}

void stop_in_good_order(const Fault& fault) {
  ServerHost& which = server(fault.a);
  if (!which.up()) return;
  world().injected("orderly stop");
  which.stop();
  later(fault.c, [&which] { boot_when_ended(which); });
}

// `tkdc release`. A latch that a full disk did not take is in the server's memory alone, until it
// is restarted.
void release(ServerHost& which) {
  const bool unwritten = which.latched() == kUnknownLatch;
  which.release();
  if (!unwritten) return;
  world().fibers.start(world().nature, [&which] {
    world().sleep(kSecond);
    which.stop();
    world().wait(kNever, [&which] { return which.ended(); });
    if (!which.in_repair && !world().quiet) which.boot();
  });
}

void isolate(std::int64_t host, bool from, bool to) {
  for (int other = 0; other < kHosts; ++other) {
    if (other == host) continue;
    if (from) wires().block(static_cast<int>(host), other);
    if (to) wires().block(other, static_cast<int>(host));
  }
}

// The right stores of servers that have an old one.
using Kept = std::map<std::int64_t, StoreCopy>;
Kept& right_stores() {
  static Kept stores;
  return stores;
}

// An old store that was like the others' has served: keys were made, removed or refreshed with it,
// or, if nothing else, a change was begun.
bool has_gone_on(const StoreView& now, const StoreView& right) {
  using enum Tables::Table;
  const auto has_more = [&](Tables::Table table, std::initializer_list<Tables::Table> known) {
    return std::ranges::any_of(rows_in(now, table), [&](const auto& row) {
      return std::ranges::none_of(
          known, [&](auto one) { return rows_in(right, one).contains(row.first); });
    });
  };
  const bool as_many = rows_in(now, kCommitted).size() == rows_in(right, kCommitted).size();
  return refresh_in(now).is.epoch > refresh_in(right).is.epoch ||
         has_more(kCommitted, {kCommitted, kTombstones, kDropped}) ||
         has_more(kTombstones, {kTombstones}) ||
         (as_many && (has_more(kPrepared, {kPrepared}) || has_more(kCondemned, {kCondemned})));
}

// Where the others have made or removed keys since, nothing was changed with the old one in place:
// the right one takes its place again.
void repair(std::int64_t party) {
  const auto right = right_stores().find(party);
  if (right == right_stores().end()) return;
  ServerHost& which = server(party);
  if (which.in_repair) {
    world().wait(kNever, [&] { return !which.in_repair; });
    return;
  }
  const StoreView now = view_of(which.host());
  const auto as_at = [&](std::int64_t other) {
    return same_keys(now, view_of(server(other).host()));
  };
  const bool fits = fit_each_other(now);
  if (!fits) world().reached("stores: data.mdb and keys of two moments");
  const bool stays = fits && has_gone_on(now, view_of(which.host(), right->second));
  // Either of them may have a change that is half made.
  if (!stays && (!fits || !as_at(party + 1) || !as_at(party + 2))) {
    world().note("operator", "puts the right store back at " + which.host().name);
    world().reached("stores: differ, repaired");
    which.in_repair = true;
    // One that is still starting, too.
    crash(which.host(), false);
    world().wait(kNever, [&] { return which.ended(); });
    put_back_store(which.host(), right->second, true);
    which.in_repair = false;
    which.boot();
  }
  right_stores().erase(party);
}

// A store of some time ago takes the place of today's, with its file `keys` or without.
void put_back(const Fault& fault, Kept& kept) {
  ServerHost& which = server(fault.a);
  const std::int64_t party = which.host().number;
  if (!which.up() || !kept.contains(party) || old_store_in_place() || repair_is_due()) return;
  world().note("operator", "puts an old store back at " + which.host().name);
  const bool with_keys = fault.b % 2 == 1;
  world().injected("old store");
  if (!with_keys) world().injected("old store, keys of today");
  which.in_repair = true;
  crash(which.host(), false);
  world().wait(kNever, [&] { return which.ended(); });
  which.in_repair = false;
  right_stores()[party] = disk_of(which.host()).copy_store();
  put_back_store(which.host(), kept[party], with_keys);
  which.boot();
  later(fault.c, [party] { repair(party); });
}

bool on_network(const Fault& fault) {
  const int a = static_cast<int>(fault.a), b = static_cast<int>(fault.b);
  if (fault.kind == "cut") {
    if (wires().cut_one()) world().injected("connection broken");
  } else if (fault.kind == "cut agent") {
    if (wires().cut_one_of(agent_on(fault.a).host().number))
      world().injected("agent's connection broken");
  } else if (fault.kind == "one way") {
    wires().block(a, b);
    world().injected("one-way partition");
    later(fault.c, [] { wires().heal(); });
  } else if (fault.kind == "partition") {
    wires().block(a, b);
    wires().block(b, a);
    world().injected("partition");
    later(fault.c, [] { wires().heal(); });
  } else if (fault.kind == "isolate") {
    isolate(fault.a, fault.b != 1, fault.b != 2);
    world().injected("host cut off");
    later(fault.c, [] { wires().heal(); });
  } else {
    return false;
  }
  return true;
}

// All servers' clocks together, as their source of time has it; and back after a while.
void set_clocks(const Fault& fault) {
  const auto by = [](Us ahead) {
    for (auto& one : realm().servers) one->host().wall_ahead += ahead;
    world().injected("clocks set together");
    world().injected("clock set");
  };
  by(fault.b * kMs);
  later(fault.c, [by, fault] { by(-fault.b * kMs); });
}

bool on_host(const Fault& fault) {
  Host& host = world().hosts[static_cast<std::size_t>(fault.a)];
  if (fault.kind == "hang") {
    host.hung_until = world().now() + fault.c * kMs;
    world().fibers.wake_at(host.hung_until);
    world().injected("hung host");
  } else if (fault.kind == "slow threads") {
    slow_down(host, fault.b * kMs, fault.c * kMs);
  } else if (fault.kind == "clock") {
    host.wall_ahead += fault.b * kMs;
    world().injected("clock set");
  } else if (fault.kind == "clocks") {
    set_clocks(fault);
  } else if (fault.kind == "drift") {
    set_drift(host, fault.b);
    world().injected("clock drifts");
  } else if (fault.kind == "disk full") {
    disk_of(host).full = true;
    later(fault.c, [&host] { disk_of(host).full = false; });
  } else if (fault.kind == "disk errors") {
    disk_of(host).failing = static_cast<int>(fault.b);
  } else if (fault.kind == "commit errors") {
    disk_of(host).commits_before = static_cast<int>(fault.b);
    disk_of(host).commits_failing = static_cast<int>(fault.c);
  } else if (fault.kind == "agent") {
    Agent& agent = agent_on(fault.a);
    agent.crash();
    world().injected("agent crash");
    world().wait(kNever, [&] { return agent.host().fibers == 0; });
    world().sleep(fault.c * kMs);
    if (!agent.running() && !world().calm) agent.start();
  } else {
    return false;
  }
  return true;
}

// What falls while an instance is made, or serves. The three begin in one tick: who crashes at a
// packet after another one has begun may not have sent m1.
bool on_garbling(const Fault& fault) {
  const bool making = fault.kind.ends_with(" in making");
  if (!making && !fault.kind.ends_with(" in garbling")) return false;
  const bool begins =
      making ? wait_for_tables(fault.a) : wait_for_use(fault.a + fault.b % kServers);
  if (!begins) return true;
  if (fault.kind.starts_with("crash")) {
    crash_later({fault.at_ms, fault.kind, fault.a, making ? fault.b : fault.b / kServers, fault.c},
                &Host::crash_at_packet);
    return true;
  }
  world().sleep(fault.b * world().plan.latency_us / 3);
  if (world().calm) return true;
  if (fault.kind.starts_with("hang")) return on_host({fault.at_ms, "hang", fault.a, 0, fault.c});
  wires().cut_one();
  world().injected(fault.kind);
  return true;
}

// Of the simulator's own test: an invariant that needs two other faults to fall.
void fall_after_two() {
  const auto& before = world().injected_;
  if (before.contains("crash") && before.contains("hung host"))
    world().broken("planted", "a server had crashed, and one had hung");
}

// Who else would serve, where there is one KDC?
void begin_to_lie_as_agent(const Fault& fault) {
  if (world().plan.kdcs < 2 || agent_on(fault.a).host().number == kAdmin) return;
  let_agent_lie(static_cast<int>(fault.a), static_cast<int>(fault.b),
                static_cast<unsigned>(fault.c % kLiesOfKind), fault.c / kLiesOfKind);
}

void make(const Fault& fault, Kept& kept) {
  world().note("fault", fault.kind + " " + std::to_string(fault.a) + " " + std::to_string(fault.b) +
                            " " + std::to_string(fault.c));
  if (on_network(fault) || on_host(fault) || make_fault_of_two(fault) || on_garbling(fault) ||
      make_fault_of_keys(fault))
    return;
  if (fault.kind == "crash" || fault.kind == "power") return down(fault, fault.kind == "power");
  if (fault.kind == "errors at all") return fail_at_all(fault);
  if (fault.kind == "power twice") return down_twice(fault);
  if (fault.kind == "crash at disk") return crash_later(fault, &Host::crash_at_disk);
  if (fault.kind == "crash at packet") return crash_later(fault, &Host::crash_at_packet);
  if (fault.kind == "no memory") return crash_later(fault, &Host::crash_at_memory);
  if (fault.kind == "crash in refresh") return crash_in_refresh(fault);
  if (fault.kind == "slow refresh") return slow_refresh(fault);
  if (fault.kind == "crash in repair") return crash_in_repair(fault);
  if (fault.kind == "crash in change") return crash_in_change(fault);
  if (fault.kind == "flood") return flood(agent_on(fault.a), fault.b);
  if (fault.kind == "stop") return stop_in_good_order(fault);
  if (fault.kind == "planted") return fall_after_two();
  if (fault.kind == "keep") {
    kept[fault.a % world().servers()] = disk_of(server(fault.a).host()).copy_store();
  } else if (fault.kind == "old store") {
    put_back(fault, kept);
  } else if (fault.kind == "lost disk") {
    kept.erase(fault.a % world().servers());
    lose_disk(fault);
  } else if (fault.kind.starts_with("liar") || fault.kind == "two-faced") {
    begin_to_lie(fault);
  } else if (fault.kind == "lying agent") {
    begin_to_lie_as_agent(fault);
  }
}

// The last fault of many runs: while the servers make a new session something more is lost, also a
// connection that nobody reads at that moment. From here on logins have to flow in time.
void last_blow() {
  Random& random = world().random;
  const auto how = random.below(10);
  if (how < 4) return;
  // A handshake has some 30 packets behind each other.
  const auto moment = [&random] { world().sleep(random.between(0, 40) * world().plan.latency_us); };
  while (wires().cut_one()) {
  }
  // Some of these blows wait until somebody calls.
  if (random.percent(60)) {
    const int calls = wires().calls();
    world().wait(3 * kSecond, [calls] { return wires().calls() != calls; });
  }
  if (how < 8) {
    for (auto left = random.between(1, 6); left > 0; --left) {
      moment();
      wires().cut_one();
    }
    return;
  }
  ServerHost& which = server(random.between(0, 2));
  moment();
  crash(which.host(), true);
  world().wait(30 * kSecond, [&which] { return which.ended(); });
  moment();
  which.boot();
}

}  // namespace

void make_calm() {
  world().calm = true;
  world().calm_since = world().now();
  world().note("fault", "none any more");
  wires().heal();
  for (Host& host : world().hosts) {
    set_drift(host, 0);
    host.wall_ahead = -host.drifted;
    host.hung_until = host.slow_until = 0;
    host.crash_no_more();
    disk_of(host).full = false;
    disk_of(host).failing = 0;
    disk_of(host).commits_failing = disk_of(host).reads_failing = 0;
  }
  for (std::int64_t party = 0; party < world().servers(); ++party) repair(party);
  restore_stores();
  mend_two();
  mend_keys();
  for (auto& one : realm().servers) {
    // One that is to stop, and hung, too.
    const auto runs = [&] { return one->up() && !one->stopping(); };
    if (!runs() && !one->in_repair) {
      world().wait(30 * kSecond, [&] { return one->ended() || runs(); });
      if (one->ended() && !one->in_repair) one->boot();
    }
    if (!one->latched().empty()) release(*one);
  }
  for (Agent* agent : realm().agents())
    if (!agent->running()) agent->start();
  finish_repair();
  if (!world().failed()) last_blow();
}

// Amid a handshake, and while its first words are on their way: one of those that were called last.
void break_in_a_handshake() {
  Random& random = world().random;
  while (wires().cut_one()) {
  }
  const int calls = wires().calls() + static_cast<int>(random.between(1, 3 * world().plan.lanes));
  world().wait(3 * kSecond, [calls] { return wires().calls() >= calls; });
  world().sleep(random.between(0, 4) * world().plan.latency_us);
  wires().cut_one(6 * world().plan.latency_us);
}

void boot_when_ended(ServerHost& which) {
  world().wait(kNever, [&] { return which.ended() || world().calm; });
  if (which.ended() && !which.in_repair && !world().calm) which.boot();
}

bool old_store_in_place() { return !right_stores().empty(); }

void start_faults() {
  right_stores().clear();
  new_liar();
  new_lying_agent();
  new_two_faults();
  world().fibers.start(world().nature, [] {
    auto kept = std::make_shared<Kept>();
    for (const Fault& fault : world().plan.faults) {
      const Us at = fault.at_ms * kMs;
      if (at > world().now()) world().sleep(at - world().now());
      if (world().calm || world().failed()) return;
      // One that waits for something does not hold up the next.
      world().fibers.start(world().nature, [fault, kept] { make(fault, *kept); });
    }
  });
  world().fibers.start(world().nature, [] {
    for (;;) {
      world().sleep(kSecond);
      wires().look();
      // An operator releases what too many crashes amid checks have closed, when he has looked;
      // and what a lie has, who finds nothing wrong.
      for (auto& one : realm().servers)
        if (const std::string why = one->latched(); one->up() && !why.empty()) {
          const bool by_count = why.starts_with("limits.") || why == kUnknownLatch;
          if (world().calm || world().random.percent(by_count ? 20 : 10)) release(*one);
        }
    }
  });
}

}  // namespace tkdc::sim
