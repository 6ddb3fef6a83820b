// SPDX-License-Identifier: Apache-2.0
#include "sim/upkeep.h"

#include <map>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "sim/asking.h"
#include "sim/liar.h"
#include "sim/store_keys.h"
#include "sim/stores.h"
#include "sim/two.h"

namespace tkdc::sim {
namespace {

constexpr Us kAudit = 30 * kSecond;     // comes to its end within this, once nothing is wrong
constexpr Us kSettled = 3 * kSecond;    // servers of two refreshes end their session at once
constexpr std::uint64_t kServedOn = 3;  // tickets, beside a server of another refresh

struct Apart {
  Us since = kNever;
  std::optional<std::uint64_t> sealed;  // when kSettled was over
};
Apart apart;
std::array<std::uint32_t, kServers> epochs{};

// None: nobody answered, or with an error.
std::optional<nlohmann::json> shares_of(ServerHost& which) {
  auto answer = which.ask({LocalOp::kShares, "status", {}});
  if (!answer || !answer->ok()) return std::nullopt;
  auto state = nlohmann::json::parse((*answer)->begin(), (*answer)->end(), nullptr, false);
  if (!state.is_object()) return std::nullopt;
  return state;
}

bool is_idle(const nlohmann::json& state) {
  return state["macs"] == true && state["running"] == false && state["wanted"] == false;
}

void run_upkeep() {
  Random& random = world().random;
  while (!world().failed() && !world().calm) {
    world().sleep(static_cast<Us>(random.below(static_cast<std::uint64_t>(30 * kSecond))));
    if (world().calm || world().failed()) return;
    const auto what = world().plan.of_two() ? 0 : random.below(10);
    ask_shares(*realm().servers[random.below(realm().servers.size())], what < 5   ? "refresh"
                                                                       : what < 8 ? "audit"
                                                                                  : "deal");
  }
}

// Two servers hold each component, of the same version; together they are the key.
void judge_record(const Bytes& id) {
  std::array<KeyRecord, kServers> records;
  for (std::size_t p = 0; p < kServers; ++p) {
    auto one = record_of(realm().servers[p]->host(), id);
    if (!one) return world().broken("shares", "a record cannot be read: " + to_hex(id));
    records[p] = std::move(*one);
  }
  const std::string which = records[0].principal_name + ", key " + to_hex(id).substr(0, 8);
  for (std::size_t p = 0; p < kServers; ++p) {
    KeyRecord& next = records[(p + 1) % kServers];
    if (records[p].version != next.version)
      return world().broken("shares", which + " has shares of two refreshes");
    for (auto& [field, value] : records[p].fields)
      if (value.component[1] != next.fields[field].component[0])
        return world().broken("shares", which + ": two servers hold different shares of " + field);
  }
  for (const auto& key : realm().model.keys) {
    if (key->known < 0 || !std::ranges::equal(key->ref.id, id)) continue;
    SecretVector value = records[0].fields["key"].component[0];
    for (std::size_t p = 1; p < kServers; ++p)
      xor_bytes(value.data(), records[p].fields["key"].component[0].data(), value.size());
    if (!std::ranges::equal(value, known_of(*key).value))
      return world().broken("shares", which + ": the shares are not those of the key");
  }
}

// Tags are of the shares that are there, or none are.
void judge_macs(const Host& host, const Bytes& id) {
  const auto record = record_of(host, id);
  const auto row = macs_of(host, id);
  if (!record || !row) return;
  if (row->version != record->version || row->refresh_epoch != refresh_of(host).is.epoch)
    world().broken("shares",
                   host.name + " has MACs of another refresh, of key " + to_hex(id).substr(0, 8));
}

// Shares of before are no use to anybody but a thief.
void judge_other_pair(const Host& host) {
  if (failed_lately(host)) return;
  for (auto table : {Tables::kNext, Tables::kNextMacs})
    if (!rows_of(host, table).empty())
      world().broken("shares", host.name + " has kept shares of another refresh");
}

}  // namespace

bool ask_shares(ServerHost& which, const std::string& task) {
  auto answer = which.ask({LocalOp::kShares, task, {}});
  const bool taken = answer && answer->ok();
  if (taken) world().note("operator", "asks " + which.host().name + " for: " + task);
  return taken;
}

void start_upkeep() {
  apart = {};
  epochs = {};
  if (world().plan.macs || world().plan.of_two()) world().fibers.start(world().nature, run_upkeep);
}

void look_at_refresh(std::uint64_t sealed) {
  bool alike = true;
  for (std::size_t p = 0; p < realm().servers.size(); ++p) {
    const std::uint32_t epoch = refresh_of(realm().servers[p]->host()).is.epoch;
    if (epoch > epochs[p]) world().reached("refresh: done");
    epochs[p] = epoch;
    alike = alike && epoch == epochs[0];
  }
  if (alike) return void(apart = {});
  if (apart.since == kNever) apart.since = world().now();
  if (!apart.sealed && world().now() - apart.since > kSettled) apart.sealed = sealed;
  if (apart.sealed && sealed - *apart.sealed > kServedOn && !liar().has_lied)
    world().broken("shares", "servers serve on, and not all have been refreshed");
}

void finish_shares() {
  if (world().plan.of_two()) return finish_refresh();
  if (!world().plan.macs || liar().has_lied) return;
  ServerHost& which = *realm().servers[world().random.below(kServers)];
  const Us until = world().now() + kAudit;
  std::uint64_t finished = 0;
  bool asked = false;
  while (world().now() < until && !world().failed()) {
    world().sleep(200 * kMs);
    const auto state = shares_of(which);
    if (!state || !is_idle(*state)) continue;
    if (!asked) {
      finished = (*state)["finished"];
      asked = ask_shares(which, "audit");
      continue;
    }
    if ((*state)["finished"] == finished) continue;
    world().reached("shares: audited");
    if (state->contains("trouble"))
      world().broken("shares", "an audit ends before its time: " + state->dump());
    return;
  }
  world().broken("liveness", "no audit of shares came to its end for 30 s after the last fault");
}

void judge_shares() {
  if (world().plan.of_two()) return judge_two();
  const Host& first = realm().servers[0]->host();
  for (auto& server : realm().servers) {
    const Host& host = server->host();
    if (refresh_of(host).is.epoch != refresh_of(first).is.epoch)
      return world().broken(
          "shares", host.name + " and " + first.name + " have been through different refreshes");
    judge_other_pair(host);
  }
  for (const auto& [id, value] : rows_of(first, Tables::kCommitted)) {
    judge_record(id);
    for (auto& server : realm().servers) judge_macs(server->host(), id);
  }
}

}  // namespace tkdc::sim
