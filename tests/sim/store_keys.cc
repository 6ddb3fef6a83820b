// SPDX-License-Identifier: Apache-2.0
#include "sim/store_keys.h"

#include <algorithm>

#include "base/hex.h"
#include "sim/faults.h"
#include "sim/realm.h"
#include "sim/repairs.h"
#include "sim/stores.h"
#include "sim/upkeep.h"

namespace tkdc::sim {
namespace {

constexpr std::size_t kMostKept = 4;  // of a server's refreshes
constexpr std::size_t kBatch = 7;     // values in one transaction
constexpr Us kWaitsForKeys = 20 * kSecond;
constexpr Us kTriedAgain = 80 * kSecond;  // at the latest, what has failed

struct Before {
  std::uint32_t epoch;
  StoreCopy store;
};
std::array<std::vector<Before>, kServers> befores;

ServerHost& host_of(std::int64_t party) {
  return *realm().servers[static_cast<std::size_t>(party % world().servers())];
}

// Whether any key that there is opens one of its shares.
bool opens_shares(const StoreKeys& keys, int party, const StoreView& before) {
  const StoreOwner owner{kInstallation, party};
  StoreCipher all = store_cipher(keys, owner);
  for (const EpochKey& one : keys.epochs) {
    all.also_decrypts(row_key(keys.current, one));
    if (keys.previous) all.also_decrypts(row_key(*keys.previous, one));
  }
  SecretVector text;
  for (auto table : {Tables::kCommitted, Tables::kMacs})
    for (const auto& [id, row] : rows_in(before, table))
      if (all.decrypt(Tables::kNames[table], id, row, text)) return true;
  return false;
}

// That database with the file `keys` of today.
bool serves_with_todays_keys(ServerHost& which, const StoreCopy& before) {
  HostDisk& disk = disk_of(which.host());
  const StoreCopy today = disk.copy_store();
  bool opened = false;
  disk.tables = before.tables;
  which.work_on_disk([&] { opened = which.open_store().ok(); });
  put_back_store(which.host(), today, true);
  return opened;
}

// Every other one has gone with its shares; that of an attempt stays until a session begins.
bool has_keys_in_use_only(const Host& host, const StoreKeys& keys) {
  const StoredRefresh refresh = refresh_of(host);
  return std::ranges::all_of(keys.epochs, [&](const EpochKey& one) {
    return one.id == refresh.key || one.id == refresh.other_key;
  });
}

// An interrupted one is taken up by the next.
Result<void> rekey(ServerHost& which) {
  HostDisk& disk = disk_of(which.host());
  const int party = which.host().number;
  const SecretBuffer wrapping = wrapping_key(party, disk.wrapping),
                     next = wrapping_key(party, disk.wrapping + 1);
  auto store = which.open_store();
  if (!store.ok()) return store.error();
  if ((*store)->rekey_is_under_way()) world().reached("keys: a change is taken up");
  if (auto begun = (*store)->begin_rekey(wrapping, next); !begun.ok()) return begun;
  if (auto read = keyring_of(party).read(next); !read.ok()) return read.error();
  if (!which.host().dead) ++disk.wrapping;
  for (RekeyAt at; !which.host().dead;) {
    auto seen = (*store)->rewrite(kBatch, at);
    if (!seen.ok()) return seen.error();
    if (*seen == 0) break;
    world().sleep(kMs);
  }
  return (*store)->end_rekey(next);
}

// Some operations on: a crash, a loss of power, an error of the disk; or all goes well.
void rekey_with(const Fault& fault) {
  ServerHost& which = host_of(fault.a);
  if (!which.up() || which.in_repair || old_store_in_place() || repair_is_due()) return;
  which.in_repair = true;
  which.stop();
  world().wait(kNever, [&] { return which.ended(); });
  HostDisk& disk = disk_of(which.host());
  world().note("operator", "changes the keys of " + which.host().name);
  world().injected("rekey");
  if (fault.b % 4 == 1) which.host().crash_at_disk = fault.b / 4;
  if (fault.b % 4 == 2) disk.keys_fault = {fault.b / 4, false, false};
  if (fault.b % 4 == 3) disk.keys_fault = {fault.b / 4, true, fault.b % 8 == 7};
  Result<void> done = fail("it ended");
  bool alive = false;
  which.work_on_disk([&] {
    done = rekey(which);
    alive = !which.host().dead;
  });
  which.host().crash_at_disk = -1;
  disk.keys_fault = {};
  if (alive && done.ok()) world().reached("keys: changed");
  world().note("operator", !alive ? "was cut off" : done.ok() ? "is done" : done.error().message);
  if (!world().calm) world().sleep(fault.c % 500 * kMs);
  which.in_repair = false;
  which.boot();
}

// From the word for a refresh on, at some servers or at all.
void fail_in_refresh(const Fault& fault, const KeysFault& keys_fault) {
  if (!ask_shares(host_of(fault.a), "refresh")) return;
  const std::int64_t which = fault.b / kOperationsOfKeys % 7 + 1;
  for (std::int64_t party = 0; party < world().servers(); ++party) {
    if ((which >> party & 1) == 0) continue;
    disk_of(host_of(party).host()).keys_fault = keys_fault;
    world().fibers.start(world().nature, [party, c = fault.c] {
      Host& host = host_of(party).host();
      KeysFault& waiting = disk_of(host).keys_fault;
      world().wait(kWaitsForKeys, [&] {
        return (waiting.before < 0 && !waiting.at_rename) || host.dead || world().calm;
      });
      waiting = {};
      world().wait(kSecond, [&] { return host.dead; });
      world().sleep(c * kMs);
      if (host.dead && !world().calm) boot_when_ended(host_of(party));
    });
  }
}

}  // namespace

bool failed_lately(const Host& host) {
  return world().now() - disk_of(host).failed_at < kTriedAgain;
}

void look_at_keys(const Host& host) {
  if (old_store_in_place()) return;
  if (!fit_each_other(view_of(host)))
    world().broken("epoch keys", host.name +
                                     "'s data.mdb has values under a key that its file keys "
                                     "lacks");
}

void note_refresh(const Host& host, StoreCopy before) {
  auto& all = befores[static_cast<std::size_t>(host.number)];
  if (all.size() == kMostKept) all.erase(all.begin());
  const std::uint32_t epoch = refresh_in(view_of(host, before)).is.epoch;
  all.push_back({epoch, std::move(before)});
}

void judge_store_keys(ServerHost& which) {
  const Host& host = which.host();
  look_at_keys(host);
  const StoreKeys* keys = keys_in(view_of(host));
  if (keys == nullptr || world().failed()) return;
  for (const auto& [id, row] : rows_of(host, Tables::kCommitted))
    if (!record_of(host, id))
      return world().broken("epoch keys",
                            host.name + " cannot read its key " + to_hex(id).substr(0, 8));
  if (world().plan.of_two()) return;  // no key goes with their refresh
  if (failed_lately(host)) return;
  if (!has_keys_in_use_only(host, *keys))
    return world().broken("epoch keys", host.name + " has a key of shares that are gone");
  const StoreKeys today = copy_of(*keys);
  const std::uint32_t epoch = refresh_of(host).is.epoch;
  for (const Before& one : befores[static_cast<std::size_t>(host.number)]) {
    if (one.epoch >= epoch || world().failed()) continue;
    if (opens_shares(today, host.number, view_of(host, one.store)))
      return world().broken("epoch keys", host.name + "'s file keys opens shares of before");
    if (serves_with_todays_keys(which, one.store))
      return world().broken("epoch keys", host.name + " starts with shares of before");
    world().reached("keys: shares of before do not open");
  }
}

bool make_fault_of_keys(const Fault& fault) {
  if (fault.kind == "rekey")
    rekey_with(fault);
  else if (fault.kind == "errors at keys")
    fail_in_refresh(fault, {fault.b % kOperationsOfKeys, false, false});
  else if (fault.kind == "crash at keys")
    fail_in_refresh(fault, {fault.b % kOperationsOfKeys, true, false});
  else if (fault.kind == "power at rename")
    fail_in_refresh(fault, {-1, false, true});
  else
    return false;
  return true;
}

void mend_keys() {
  for (auto& one : realm().servers) disk_of(one->host()).keys_fault = {};
}

void new_store_keys() {
  for (auto& all : befores) all.clear();
}

}  // namespace tkdc::sim
