// SPDX-License-Identifier: Apache-2.0
#include "sim/operators.h"

#include <algorithm>

#include "service/export/parcel.h"
#include "service/sealing/nonce.h"
#include "service/sealing/revocations.h"
#include "service/server/revoke_request.h"
#include "sim/approvals.h"
#include "sim/asking.h"
#include "sim/liar.h"
#include "sim/repairs.h"
#include "sim/stores.h"

namespace tkdc::sim {
namespace {

struct Revoked {
  SealWindow window;  // with what clocks may differ by
  int party = 0;      // whose administrator asked for it
  bool in_force = false;
};
struct Revocations {
  std::vector<Revoked> all;
  std::array<bool, kServers> may_lift{};  // its administrator has agreed, as far as anybody knows
};
Revocations revocations;

// An export that some servers may have taken part in.
struct Export {
  ExportRequest request;
  std::string text;
  std::vector<std::string> approvals;
  std::vector<const Key*> keys;
  SecretBuffer secret{crypto_box_SECRETKEYBYTES};
  bool good = false;                   // two administrators approved
  std::array<int, kServers> handed{};  // on which of a server's disks that is noted; 0: none
};
std::vector<std::unique_ptr<Export>> exports;

bool covers(const SealWindow& window, std::uint32_t at) {
  return window.from <= at && at <= window.to;
}

ServerHost& some_server() { return *realm().servers[world().random.below(kServers)]; }

std::string request_file(const ServerHost& which) {
  return revoke_request_file(which.config().store_path);
}

bool waits(const ServerHost& which) {
  const HostDisk& disk = disk_of(which.host());
  return disk.names.contains(request_file(which)) ||
         disk.durable_names.contains(request_file(which));
}

// As `tkdc revoke` does, whole and on disk.
void place(ServerHost& which, const std::string& text) {
  HostDisk& disk = disk_of(which.host());
  disk.put_file(request_file(which), text);
  world().note("operator", "asks " + which.host().name + ": " + text);
}

void revoke() {
  ServerHost& which = some_server();
  if (waits(which)) return;
  Random& random = world().random;
  const std::uint32_t now = sealed_at_now();
  SealWindow window;
  window.to = now - static_cast<std::uint32_t>(random.percent(50) ? 0 : random.below(12));
  window.from = window.to - static_cast<std::uint32_t>(random.below(4));
  // Of the past, by that server's clock: else it waits until that is so.
  const std::size_t index = revocations.all.size();
  revocations.all.push_back({with_skew(window), which.host().number, false});
  place(which, "revoke " + std::to_string(window.from) + " " + std::to_string(window.to) + "\n");
  world().injected("revocation");
  if (!world().wait(60 * kSecond, [&] { return !waits(which); })) return;
  revocations.all[index].in_force = true;
  world().reached("revocation: in force");
  for (std::size_t p = 0; p < kServers; ++p)
    revocations.may_lift[p] = revocations.may_lift[p] && waits(*realm().servers[p]);
}

void lift() {
  const std::size_t party = world().random.below(kServers);
  ServerHost& which = *realm().servers[party];
  if (waits(which)) return;
  revocations.may_lift[party] = true;
  if (std::ranges::all_of(revocations.may_lift, [](bool may) { return may; })) {
    for (Revoked& one : revocations.all) one.in_force = false;
    world().reached("revocation: lifted by all three");
  }
  // What no other server has heard of yet ends by its own server's word.
  for (Revoked& one : revocations.all)
    if (one.party == which.host().number) one.in_force = false;
  place(which, "lift\n");
  world().wait(60 * kSecond, [&] { return !waits(which); });
}

// ---- keys given back

std::unique_ptr<Export> new_export() {
  auto out = std::make_unique<Export>();
  for (const auto& key : realm().model.keys)
    if (key->state == Key::State::kBound && out->keys.size() < 4 && world().random.percent(40))
      out->keys.push_back(key.get());
  if (out->keys.empty()) return nullptr;
  std::ranges::sort(out->keys, {}, [](const Key* key) { return key->ref.id; });
  ExportRequest& request = out->request;
  request.installation = kInstallation;
  request.realm = "R";
  world().random.fill(request.nonce.data(), request.nonce.size());
  world().secrets.fill(out->secret.data(), out->secret.size());
  crypto_scalarmult_base(request.recipient.data(), out->secret.data());
  request.expires_at_s = wall_s() + 3600;
  for (const Key* key : out->keys)
    request.keys.push_back({key->ref.id, key->ref.kvno, key->ref.enctype, key->principal});
  out->text = encode(request);
  Approvals approvals = some_approvals(request_digest(out->text));
  out->approvals = std::move(approvals.texts);
  out->good = approvals.good;
  return out;
}

// All the time since then.
bool all_bound(const Export& one, Us since) {
  return std::ranges::all_of(one.keys, [since](const Key* key) {
    return key->state == Key::State::kBound && key->back_since < since;
  });
}

// What the three parcels make, against what was imported.
void open_parcels(const Export& one, const std::array<Bytes, kServers>& files) {
  std::array<Parcel, kServers> parcels;
  for (std::size_t p = 0; p < kServers; ++p) {
    auto parcel = unpack(files[p], one.request, request_digest(one.text), one.secret,
                         curve_public(static_cast<int>(p)));
    if (!parcel.ok()) return world().broken("exports", parcel.error().message);
    parcels[p] = std::move(*parcel);
  }
  auto keys = combine(one.request, parcels);
  if (!keys.ok()) return world().broken("exports", keys.error().message);
  for (std::size_t k = 0; k < one.keys.size(); ++k) {
    const Key& key = *one.keys[k];
    const auto& value = (*keys)[k];
    if (value && key.known >= 0 && !std::ranges::equal(*value, known_of(key).value))
      world().broken("exports", "another value than was imported was given back for " + named(key));
    if (!value && !key.principal.starts_with("krbtgt/"))
      world().broken("exports", "the key of " + named(key) + " was kept back");
  }
  world().reached("exports: keys given back");
}

// Of the shares that each server serves; empty while one may still serve those of before a refresh.
std::vector<std::uint32_t> refresh_epochs() {
  std::vector<std::uint32_t> out;
  for (auto& server : realm().servers) {
    const StoredRefresh refresh = refresh_of(server->host());
    if (refresh.other == StoredRefresh::Other::kBefore) return {};
    out.push_back(refresh.is.epoch);
  }
  return out;
}

void hand_over(Export& one) {
  std::array<Bytes, kServers> files;
  const std::vector<std::uint32_t> before_all = refresh_epochs();
  std::size_t given = 0;
  for (std::size_t p = 0; p < kServers; ++p) {
    const Us asked_at = world().now();
    const bool before = all_bound(one, asked_at);
    auto answer = realm().servers[p]->ask({LocalOp::kHandOver, one.text, one.approvals});
    if (!answer) continue;
    if (!answer->ok()) {
      const std::string& why = answer->error().message;
      const bool unknown = why.find("does not have") != std::string::npos ||
                           why.find("is another here") != std::string::npos;
      const bool whole = was_whole_since(asked_at) && !world().injected_.contains("old store");
      if (unknown && before && all_bound(one, asked_at) && whole)
        world().broken("exports", realm().servers[p]->host().name + ": " + why);
      continue;
    }
    if (!one.good) world().broken("exports", "keys were given back without two approvals");
    const int disk = 1 + disks_lost(static_cast<int>(p));
    if (std::exchange(one.handed[p], disk) == disk)
      world().broken("exports", "a request was good twice at one server");
    files[p] = std::move(**answer);
    ++given;
  }
  // Shares of two refreshes do not fit, and whoever combines them is told so.
  const bool of_one =
      !before_all.empty() && std::ranges::count(before_all, before_all[0]) == kServers;
  if (given == kServers && of_one && before_all == refresh_epochs()) open_parcels(one, files);
}

void give_back() {
  if (!exports.empty() && world().random.percent(30))
    return hand_over(*exports[world().random.below(exports.size())]);
  auto one = new_export();
  if (!one) return;
  exports.push_back(std::move(one));
  hand_over(*exports.back());
}

void run_operators() {
  Random& random = world().random;
  const bool revokes = random.percent(25), exports_keys = random.percent(40);
  const auto pause = static_cast<std::uint64_t>(20 * kSecond);
  while ((revokes || exports_keys) && !world().failed() && !world().calm) {
    world().sleep(static_cast<Us>(random.below(pause)));
    if (world().calm || world().failed()) return;
    if (revokes && random.percent(50)) random.percent(40) ? revoke() : lift();
    if (exports_keys) give_back();
  }
}

}  // namespace

bool is_revoked(std::uint32_t sealed_at) {
  // What its server alone had heard of goes with its store.
  if (world().injected_.contains("old store") || world().injected_.contains("disk lost"))
    return false;
  return std::ranges::any_of(revocations.all, [&](const Revoked& one) {
    return one.in_force && covers(one.window, sealed_at);
  });
}

bool was_to_be_revoked(std::uint32_t sealed_at) {
  return std::ranges::any_of(revocations.all,
                             [&](const Revoked& one) { return covers(one.window, sealed_at); });
}

bool may_be_revoked(std::uint32_t sealed_at) {
  return liar().has_lied || was_to_be_revoked(sealed_at);
}

void start_operators() {
  revocations = {};
  exports.clear();
  world().fibers.start(world().nature, run_operators);
}

}  // namespace tkdc::sim
