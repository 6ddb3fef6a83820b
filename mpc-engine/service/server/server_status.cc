// SPDX-License-Identifier: Apache-2.0
// What a server says of itself to agents, for `tkdc status` (docs/protocols/04-control-plane.md).
#include <map>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/machine.h"
#include "base/version.h"
#include "link/tls_context.h"
#include "service/server/agent_watch.h"
#include "service/server/backup_watch.h"
#include "service/server/certificate_watch.h"
#include "service/server/clock_watch.h"
#include "service/server/disk_watch.h"
#include "service/server/epoch_watch.h"
#include "service/server/revoked_json.h"
#include "service/server/server.h"
#include "service/store/dropped_table.h"
#include "service/wire/former_keys.h"
#include "service/wire/times_json.h"

namespace tkdc {

namespace {

nlohmann::json protocols_json(const std::vector<ProtocolInfo>& protocols) {
  nlohmann::json out = nlohmann::json::array();
  for (const ProtocolInfo& one : protocols)
    out.push_back({{"name", one.name}, {"backend", one.backend}});
  return out;
}

void tell_verification(nlohmann::json& json, const CheckTotals& checks) {
  json["verification"] = {{"checks", checks.microseconds.count()},
                          {"claims", checks.claims},
                          {"seconds", seconds_of(checks.microseconds)},
                          {"bounds_ms", bounds_ms_json()},
                          {"counts", checks.microseconds.counts}};
}

// On shares, by all lanes together.
void tell_computed(nlohmann::json& json, const JobServiceStatus& jobs) {
  json["message_bytes_sent"] = jobs.message_bytes_sent;
  json["aes_blocks"] = jobs.aes_blocks;
  json["masked_blocks"] = jobs.masked_blocks;
  json["masks_made"] = jobs.masks_made;
  json["masks_held"] = jobs.masks_held;
  json["sha1_blocks"] = jobs.sha1_blocks;
  json["sha2_blocks"] = jobs.sha2_blocks;
  json["rounds"] = jobs.rounds;
  json["operations"] = jobs.operations;
  json["cohorts"] = jobs.cohorts;
  json["operation_rounds"] = jobs.operation_rounds;
}

// What jobs came to, what operations took, and how busy each lane is. Two servers verify within
// each circuit, semi-honest ones nothing: they say nothing of it.
void tell_work(nlohmann::json& json, const JobServiceStatus& jobs, bool verifies) {
  nlohmann::json results = nlohmann::json::object(), by_lane = nlohmann::json::array();
  for (std::size_t k = 0; k < jobs.results.size(); ++k)
    results[status_word(static_cast<tkdc_status>(k))] = jobs.results[k];
  for (const JobServiceStatus::OfLane& one : jobs.by_lane)
    by_lane.push_back({{"rounds", one.rounds},
                       {"operations", one.operations},
                       {"busy_s", static_cast<double>(one.busy_ns) / 1e9},
                       {"jobs", one.jobs}});
  json["results"] = std::move(results);
  json["times"] = times_json(jobs.times);
  json["by_lane"] = std::move(by_lane);
  if (verifies) tell_verification(json, jobs.checks);
}

void tell_garbling(nlohmann::json& json, const GarblingOptions& garbling,
                   const JobServiceStatus& jobs) {
  json["garbling"] = garbling.use_name();
  json["garbles"] = jobs.garbles;
  json["garbled_jobs"] = jobs.garbled_jobs;
  json["garbled_missed"] = jobs.garbled_missed;
  json["garbled_made"] = jobs.garbled_made;
  json["garbled_ready"] = jobs.garbled_ready;
  json["garbled_bytes"] = jobs.garbled_bytes;
  json["garbled_kinds"] = jobs.garbled_kinds;
  json["garbled_key_had"] = jobs.garbled_key_had;
  json["garbled_sent_bytes"] = jobs.garbled_sent_bytes;
  json["garbled_circuits"] = jobs.garbled_circuits;
  json["garbled_layouts"] = jobs.garbled_layouts;
  json["garbled_unfit"] = jobs.garbled_unfit;
}

void tell_pair(nlohmann::json& json, const std::optional<PairJobsStatus>& pair) {
  if (!pair) return;
  json["backend"] = kPairProtocol;
  json["pair"] = {{"pools", pair->pools},
                  {"pools_spent", pair->pools_spent},
                  {"pool_blocks", pair->pool_blocks},
                  {"pool_left", pair->pool_left},
                  {"pool_least", pair->pool_least},
                  {"prepared", pair->prepared},
                  {"prepared_bytes", pair->prepared_bytes},
                  {"prepared_most", pair->prepared_most},
                  {"found", pair->found},
                  {"missed", pair->missed},
                  {"key_had", pair->key_had},
                  {"may_be_known", pair->may_be_known},
                  {"tables_forward", pair->tables_forward},
                  {"tables_inverse", pair->tables_inverse},
                  {"tables_bytes", pair->tables_bytes},
                  {"tables_most", pair->tables_most},
                  {"tables_jobs", pair->tables_jobs},
                  {"tables_missed", pair->tables_missed}};
  if (pair->tables_last_s >= 0) json["pair"]["tables_last_s"] = pair->tables_last_s;
}

void tell_broken_checks(nlohmann::json& json, const std::vector<BrokenCheck>& broken) {
  json["checks_broken"] = broken.size();
  if (!broken.empty()) json["checks_broken_with"] = describe(broken);
}

void tell_former_keys(nlohmann::json& json, const ServerConfig& config) {
  const auto whose = former_keys(config);
  if (whose.empty()) return;
  json["former_keys"] = whose;
  json["former_keys_warning"] = former_keys_warning(whose, "tkdc-server", config.path);
}

void tell_host(nlohmann::json& json, const ServerConfig& config, const JobServiceStatus& jobs) {
  tell_disks(json, disk_rooms(config.store_path, config.store_map_bytes, config.audit_file));
  tell_backups(json, backups_seen(config.path, config.store_path, config.parties),
               static_cast<std::int64_t>(wall_s()),
               {jobs.refreshing_since_s, jobs.refresh_ended_s});
}

void tell_audit(nlohmann::json& json, const AuditLog& log, const std::string& behind) {
  const AuditHead head = log.head();
  json["audit_lines"] = head.lines;
  json["audit_head"] = to_hex(head.hash);
  json["audit_failures"] = log.lost();
  json["audit_room_bytes"] = log.room();
  if (const std::string closed = log.trouble(); !closed.empty()) json["audit_trouble"] = closed;
  if (!behind.empty()) json["audit_behind"] = behind;
}

void tell_warning(nlohmann::json& json, const JobServiceStatus& jobs) {
  json["seals_near_limit"] = jobs.seals_near_limit;
  if (jobs.seals_near_limit) json["warning"] = kSealWarning;
  if (jobs.session_up && jobs.shares.repaired)
    json["warning"] = "server " + std::to_string(*jobs.shares.repaired) +
                      " is being repaired, and no key is used meanwhile: `tkdc repair status`";
}

// In use, and dropped.
void tell_keys(nlohmann::json& json, Store& store, std::uint32_t keep_dropped_days,
               const std::string& alarm) {
  const std::size_t dropped = store.dropped() == nullptr ? 0 : store.dropped()->dropped_count();
  json["keys"] = store.count() - std::min(dropped, store.count());
  json["dropped_keys"] = dropped;
  json["keep_dropped_days"] = keep_dropped_days;
  if (!alarm.empty()) json["dropped_warning"] = alarm;
}

}  // namespace

std::string Server::dropped_alarm_now() {
  const auto now_s = static_cast<std::int64_t>(wall_s());
  return dropped_alarm(dropped_.oldest_s(store_->dropped(), now_s), config_.keep_dropped_days,
                       now_s);
}

// An agent whose key is being changed has two entries of one name.
void Server::tell_agents(nlohmann::json& json, const JobServiceStatus& jobs) const {
  struct Count {
    std::uint64_t asked = 0, limited = 0, garbled_had = 0;
    long long heard_ms = 0;
    AgentRole role = AgentRole::kKdc;
  };
  std::map<std::string, Count> counts;
  const std::vector<long long> heard_ms = control_->heard_ms();
  for (std::size_t k = 0; k < config_.agents.size(); ++k) {
    const AgentEntry& agent = config_.agents[k];
    const std::uint64_t id = agent_id(agent.curve_public_key);
    Count& count = counts[agent.name];
    count.heard_ms = std::max(count.heard_ms, heard_ms[k]);
    count.role = agent.role;
    for (const auto& one : jobs.agents) {
      if (one.agent != id) continue;
      count.asked += one.asked;
      count.limited += one.refused;
    }
    if (const auto had = jobs.garbled_agents_had.find(id); had != jobs.garbled_agents_had.end())
      count.garbled_had += had->second;
  }
  json["agents"] = nlohmann::json::array();
  const long long now_ms = monotonic_ms();
  std::vector<HeardAgent> all;
  for (const auto& [name, count] : counts) {
    nlohmann::json one = {{"name", name},
                          {"asked", count.asked},
                          {"limited", count.limited},
                          {"garbled_had", count.garbled_had}};
    if (count.heard_ms != 0) one["silent_s"] = (now_ms - count.heard_ms) / 1000;
    json["agents"].push_back(std::move(one));
    all.push_back({name, count.role, (now_ms - std::max(count.heard_ms, started_ms_)) / 1000});
  }
  if (const std::string silent = silent_agents(all); !silent.empty())
    json["agents_warning"] = silent;
}

std::string Server::status_json() {
  JobServiceStatus jobs = jobs_->status();
  ControlCounters control = control_->counters();
  nlohmann::json json = {{"party", config_.party},
                         {"installation", to_hex(config_.installation)},
                         {"security", security_name(config_.security)},
                         {"version", TKDC_VERSION},
                         {"build", kVersionAndCommit},
                         {"program", program_},
                         {"uptime_s", (monotonic_ms() - started_ms_) / 1000},
                         {"session_up", jobs.session_up},
                         {"lanes", jobs.lanes},
                         {"protocols", protocols_json(jobs.protocols)},
                         {"backend", jobs.protocols.empty() ? "" : jobs.protocols[0].backend},
                         {"records", tls_library().records},
                         {"pending_jobs", jobs.pending_jobs},
                         {"jobs_done", jobs.jobs_done()},
                         {"jobs_refused", jobs.jobs_refused()},
                         {"jobs_failed", jobs.jobs_failed()},
                         {"jobs_late", jobs.jobs_late},
                         {"most_seals", jobs.most_seals},
                         {"logins_unheralded", jobs.logins_unheralded},
                         {"heads_abandoned", jobs.heads_abandoned},
                         {"agents_limited", jobs.agents_limited},
                         {"keys_limited", jobs.keys_limited},
                         {"tickets_revoked", jobs.tickets_revoked},
                         {"revoked", revoked_json(jobs.revoked)},
                         {"shares", shares_->state()},
                         {"requests", control.requests},
                         {"requests_malformed", control.malformed},
                         {"requests_replayed", control.replayed},
                         {"requests_refused", control.refused},
                         {"replies_undelivered", control.undelivered}};
  json["parties"] = config_.parties;
  tell_agents(json, jobs);
  tell_keys(json, *store_, of_two() ? 0 : config_.keep_dropped_days, dropped_alarm_now());
  tell_computed(json, jobs);
  tell_work(json, jobs, !of_two() && config_.security == Security::kMalicious);
  tell_pair(json, jobs.pair);
  if (!of_two()) tell_garbling(json, config_.garbling, jobs);
  tell_audit(json, *audit_, audit_mark_->alarm());
  tell_epochs(json, mesh_->epochs());
  if (certificate_end_s_)
    tell_certificate(json, *certificate_end_s_, static_cast<std::int64_t>(wall_s()));
  tell_former_keys(json, config_);
  tell_clocks(json, {config_.party, config_.parties}, jobs.clocks_ahead);
  tell_host(json, config_, jobs);
  std::lock_guard lock(mutex_);
  tell_broken_checks(json, broken_checks_->all());
  if (auto waits = lift_waits_for(jobs, config_.party)) json["lift_waits_for"] = *waits;
  if (jobs.revoked_unwritten) json["revoked_unwritten"] = true;
  tell_warning(json, jobs);
  json["session"] = session_id_;
  if (!session_id_.empty() && !of_two())
    json.update({{"zero_shares", zero_shares_}, {"two_parts", two_parts_}});
  json["epoch"] = epoch_;
  json["sessions"] = sessions_;
  json["reconnections"] = reconnections_;
  if (!trouble_.empty()) json["trouble"] = trouble_;
  if (!latched_.empty()) json["latched"] = latched_;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tkdc
