// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts.h"

#include "service/export/approver_key.h"
#include "service/server/broken_checks.h"
#include "sim/agents.h"
#include "sim/answers.h"
#include "sim/coverage.h"
#include "sim/floods.h"
#include "sim/garbling.h"
#include "sim/lying_agent.h"
#include "sim/network.h"
#include "sim/pair_steps.h"
#include "sim/realm.h"
#include "sim/store_keys.h"
#include "sim/stores.h"

namespace tkdc::sim {
namespace {

constexpr Us kRestartAfter = 2 * kSecond;  // RestartSec of the unit

std::string z85_key(int number) {
  // Any 40 octets of Z85 that decode; what they prove is not simulated.
  std::string key(40, '0');
  key[39] = static_cast<char>('1' + number);
  return key;
}

SecretBuffer curve_secret(int party) {
  SecretBuffer secret(kCurveKeyBytes);
  std::fill_n(secret.data(), secret.size(), static_cast<std::uint8_t>(0x40 + party));
  return secret;
}

// The first one of each.
Fingerprint certificate_of(int party) {
  Fingerprint out;
  out.fill(static_cast<std::uint8_t>(party));
  return out;
}

ServerConfig config_for(int party) {
  const Plan& plan = world().plan;
  ServerConfig config;
  config.path = "tkdc.toml";
  config.installation = kInstallation;
  config.party = party;
  config.security = plan.security == "malicious" ? Security::kMalicious : Security::kSemiHonest;
  config.control_listen = "sim";
  config.agents = {{"kdc", AgentRole::kKdc, z85_key(0)}, {"admin", AgentRole::kAdmin, z85_key(1)}};
  if (plan.kdcs == 2) config.agents.push_back({"second kdc", AgentRole::kKdc, z85_key(2)});
  config.data_listen = "sim:" + std::to_string(party);
  config.parties = world().servers();
  config.lanes = plan.lanes;
  config.protocols = {plan.of_two()    ? std::string(kPairProtocol)
                      : plan.garbles() ? "rep3"
                                       : plan.protocol};
  config.garbling = garbling_of(plan);
  config.backend = plan.backend;
  for (int other = 0; other < world().servers(); ++other)
    if (other != party) {
      PeerEntry peer;
      peer.party = other;
      peer.address = "sim:" + std::to_string(other);
      peer.certificate = certificate_of(other);
      config.peers.push_back(peer);
    }
  config.store_path = kStorePath;
  config.keep_dropped_days = keeps_dropped() ? 30 : 0;
  config.share_macs = plan.macs;
  config.audit_file = "/audit/log";
  for (int one = 0; one < world().servers(); ++one)
    config.approvers.push_back(
        {"administrator " + std::to_string(one), one, approver_public_key(approver_seed(one))});
  return config;
}

Result<Surroundings> surroundings_of(const ServerHost& server, const Fingerprint& certificate) {
  const Host& host = server.host();
  Surroundings out;
  auto store = server.open_store();
  if (!store.ok()) return store.error();
  out.store = std::move(*store);
  out.network = network_of(host);
  out.agents = agent_socket_of(host);
  out.curve_secret = curve_secret(host.number);
  out.certificate = certificate;
  out.max_pending_per_agent = kMostWaiting;
  if (world().plan.of_two()) out.pair_parts = pair_parts();
  if (world().plan.garbles()) out.garbling_parts = garbling_parts();
  return out;
}

}  // namespace

// In every other run.
bool keeps_dropped() { return world().plan.seed % 2 == 1 && !world().plan.of_two(); }

SecretBuffer approver_seed(int party) {
  SecretBuffer seed(crypto_sign_SEEDBYTES);
  std::fill_n(seed.data(), seed.size(), static_cast<std::uint8_t>(0x20 + party));
  return seed;
}

std::array<std::uint8_t, 32> curve_public(int party) {
  std::array<std::uint8_t, 32> out;
  crypto_scalarmult_base(out.data(), curve_secret(party).data());
  return out;
}

void crash(Host& host, bool power) {
  if (host.dead) return;
  world().note(host.name, power ? "loses its power" : "crashes");
  world().injected(power ? "power loss" : "crash");
  host.dead = true;
  if (host.number < kServers) note_end_of_garbling(host.number);
  host.crash_no_more();
  if (power) disk_of(host).lose_power(world().random);
  if (host.number < kServers) begin_log_anew(host.number);
  wires().host_died(host.number, power);
}

ServerHost::ServerHost(Host& host)
    : host_(host), config_(config_for(host.number)), certificate_(certificate_of(host.number)) {
  disk_of(host).limit = world().plan.record_limit;
}

Result<std::unique_ptr<Store>> ServerHost::open_store() const {
  StoreOptions options;
  options.path = config_.store_path;
  options.installation = config_.installation;
  options.party = config_.party;
  const Keyring keyring = keyring_of(host_.number);
  return Store::open_on(tables_of(host_), options,
                        wrapping_key(host_.number, disk_of(host_).wrapping), &keyring);
}

void ServerHost::work_on_disk(const std::function<void()>& work) {
  host_.dead = false;
  world().fibers.start(host_, work);
  world().wait(kNever, [this] { return ended(); });
  host_.dead = true;
}

void ServerHost::renew_certificate() { ++certificate_[1]; }

void ServerHost::trust(int party, const Fingerprint& certificate) {
  for (PeerEntry& peer : config_.peers)
    if (peer.party == party) peer.certificate = certificate;
}

void ServerHost::boot() {
  host_.dead = false;
  host_.skipped = 0;
  host_.crash_no_more();
  wanted_ = true;
  trouble_.clear();
  world().note(host_.name, "boots");
  look_at_keys(host_);
  look_at_half_made(host_.number, true);
  forget_lies_to(host_.number);
  wires().host_back(host_.number);
  world().fibers.start(host_, [this] { run(); });
}

void ServerHost::run() {
  while (wanted_ && !host_.dead) {
    auto around = surroundings_of(*this, certificate_);
    auto made = around.ok() ? Server::create(config_, "simulated", std::move(*around))
                            : Result<std::unique_ptr<Server>>(around.error());
    forget_asked(host_.number);
    trouble_ = made.ok() ? "" : made.error().message;
    if (!made.ok()) {
      if (!host_.dead) world().note(host_.name, "does not start: " + made.error().message);
      world().sleep(kRestartAfter);
      continue;
    }
    server_ = std::move(*made);
    server_->start();
    while (wanted_ && !host_.dead) {
      machine().pause(Server::kTick);
      if (!server_->look_after().ok()) break;
    }
    server_->stop();
    while (asked_ > 0) world().wait(kNever, [this] { return asked_ == 0; });
    server_.reset();
    if (!host_.dead) begin_log_anew(host_.number);
    if (wanted_ && !host_.dead) world().sleep(kRestartAfter);
  }
  if (!host_.dead) {
    world().note(host_.name, "has stopped");
    note_end_of_garbling(host_.number);
    host_.dead = true;  // nobody is there
    wires().host_died(host_.number, false);
  }
}

std::optional<Result<Bytes>> ServerHost::ask(const LocalAsk& ask) {
  if (!up()) return std::nullopt;
  auto answer = std::make_shared<std::optional<Result<Bytes>>>();
  ++asked_;
  world().fibers.start(host_, [this, ask, answer] {
    auto given = server_->answer_administrator(ask);
    --asked_;
    if (!host_.dead) *answer = std::move(given);
  });
  world().wait(10 * kSecond, [&] { return answer->has_value() || host_.dead; });
  return std::move(*answer);
}

std::string ServerHost::latched() const {
  const HostDisk& disk = disk_of(host_);
  const std::string file = latch_file(config_.store_path);
  if (!disk.names.contains(file)) return "";
  const std::string why = disk.text(file);
  return why.empty() ? kUnknownLatch : why;
}

void ServerHost::release() {
  world().note("operator", "releases " + host_.name);
  world().fibers.start(host_, [this] {
    (void)release_latch(latch_file(config_.store_path)).ok();
    (void)forget_broken_checks(broken_checks_file(config_.store_path)).ok();
  });
}

}  // namespace tkdc::sim
