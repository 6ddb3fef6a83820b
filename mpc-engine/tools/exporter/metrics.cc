// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/metrics.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "service/wire/times_json.h"
#include "tools/cli/operation_time.h"
#include "tools/cli/status_table.h"

namespace tkdc::exporter {
namespace {

using nlohmann::json;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Metric {
  const char* field;  // of a server's object; "shares.alarms": in an object of it
  const char* name;
  MetricType type;
  const char* help;
};

constexpr auto kGauge = MetricType::Gauge;
constexpr auto kCounter = MetricType::Counter;
constexpr double kMiB = 1024 * 1024, kMsOfSecond = 1000;

// Counters begin anew with the server's process. Without a name: passed over on purpose, since
// another metric says it, or it is no measure.
constexpr Metric kServerMetrics[] = {
    {"reachable", "tkdc_server_reachable", kGauge, "1: the agent has heard the server"},
    {"session_up", "tkdc_server_session_up", kGauge, "1: it is in session with both others"},
    {"uptime_s", "tkdc_server_uptime_seconds", kGauge, "Since the process began"},
    {"backup_newest_s", "tkdc_server_backup_newest_timestamp_seconds", kGauge,
     "When its newest backup was made; not there: there is none"},
    {"lanes", "tkdc_server_lanes", kGauge, "Lanes of the session"},
    {"keys", "tkdc_server_keys", kGauge, "Keys in its store"},
    {"dropped_keys", "tkdc_server_dropped_keys", kGauge,
     "Keys that were removed and can be given back"},
    {"keep_dropped_days", "", kGauge, ""},
    {"seals_near_limit", "tkdc_server_seals_near_limit", kGauge,
     "1: a key has sealed so much that it should be rotated"},
    {"pending_jobs", "tkdc_server_pending_jobs", kGauge, "Jobs that wait or run"},
    {"jobs_done", "tkdc_server_jobs_done_total", kCounter, "Jobs with a result"},
    {"jobs_refused", "tkdc_server_jobs_refused_total", kCounter,
     "Jobs with a wrong password, a forged ticket, a key that is not there"},
    {"jobs_failed", "tkdc_server_jobs_failed_total", kCounter, "Jobs that failed"},
    {"jobs_late", "tkdc_server_jobs_late_total", kCounter, "Of those: ended after their deadline"},
    {"agents_limited", "tkdc_server_agents_limited_total", kCounter,
     "Jobs refused because their agent asked too often"},
    {"keys_limited", "tkdc_server_keys_limited_total", kCounter,
     "Jobs refused because one key was asked for too often"},
    {"logins_unheralded", "tkdc_server_logins_unheralded_total", kCounter,
     "Login replies without preauthentication"},
    {"heads_abandoned", "tkdc_server_heads_abandoned_total", kCounter,
     "Jobs of two parts whose second part did not come"},
    {"tickets_revoked", "tkdc_server_tickets_revoked_total", kCounter,
     "Tickets refused because they were sealed in a revoked window"},
    {"requests", "tkdc_server_requests_total", kCounter, "Requests of agents"},
    {"requests_malformed", "tkdc_server_requests_malformed_total", kCounter,
     "Requests that have no meaning"},
    {"requests_replayed", "tkdc_server_requests_replayed_total", kCounter,
     "Requests that came again"},
    {"requests_refused", "tkdc_server_requests_refused_total", kCounter,
     "Requests that their agent may not make"},
    {"replies_undelivered", "tkdc_server_replies_undelivered_total", kCounter,
     "Replies that the agent did not take"},
    {"operations", "tkdc_server_operations_total", kCounter, "Operations begun in lanes"},
    {"cohorts", "tkdc_server_cohorts_total", kCounter, "Batches that they began in"},
    {"rounds", "tkdc_server_rounds_total", kCounter, "Rounds between the servers"},
    {"operation_rounds", "tkdc_server_operation_rounds_total", kCounter,
     "Operations at work, added up over all rounds"},
    {"message_bytes_sent", "tkdc_server_message_bytes_sent_total", kCounter,
     "Octets sent to the other servers"},
    {"aes_blocks", "tkdc_server_aes_blocks_total", kCounter, "AES blocks computed on shares"},
    {"masked_blocks", "tkdc_server_masked_blocks_total", kCounter, "Of those: by masks"},
    {"masks_made", "tkdc_server_masks_made_total", kCounter, "Masks of an AES state made"},
    {"masks_held", "tkdc_server_masks_held", kGauge, "Masks of an AES state that stand ready"},
    {"sha1_blocks", "tkdc_server_sha1_blocks_total", kCounter, "SHA-1 blocks computed on shares"},
    {"sha2_blocks", "tkdc_server_sha2_blocks_total", kCounter, "SHA-2 blocks computed on shares"},
    {"garbles", "tkdc_server_garbles", kGauge, "1: the session has garbled circuits"},
    {"garbled_jobs", "tkdc_server_garbled_jobs_total", kCounter, "Operations that took a circuit"},
    {"garbled_missed", "tkdc_server_garbled_missed_total", kCounter,
     "Operations that found no circuit left"},
    {"garbled_made", "tkdc_server_garbled_made_total", kCounter, "Garbled circuits made"},
    {"garbled_ready", "tkdc_server_garbled_ready", kGauge, "Garbled circuits that stand ready"},
    {"garbled_bytes", "tkdc_server_garbled_bytes", kGauge, "Octets of them, at most"},
    {"garbled_sent_bytes", "tkdc_server_garbled_sent_bytes_total", kCounter,
     "Octets sent to make garbled circuits"},
    {"garbled_layouts", "tkdc_server_garbled_layouts_total", kCounter,
     "Circuits laid out, to be garbled or evaluated"},
    {"garbled_kinds", "tkdc_server_garbled_kinds", kGauge, "Kinds of operations that have some"},
    {"garbled_key_had", "tkdc_server_garbled_key_had_total", kCounter,
     "Operations shared since their key had had its quota of the circuits"},
    {"pair.pools", "", kGauge, ""},
    {"pair.pool_blocks", "tkdc_server_pair_pool_blocks", kGauge,
     "Of two servers: blocks of the pool that new keys are of"},
    {"pair.pool_left", "tkdc_server_pair_pool_left", kGauge, "Of those: not used yet"},
    {"pair.pool_least", "tkdc_server_pair_pool_least", kGauge,
     "Of two servers: blocks left of the pool that has fewest"},
    {"pair.prepared", "tkdc_server_pair_prepared", kGauge,
     "Of two servers: circuits that stand ready"},
    {"pair.prepared_bytes", "tkdc_server_pair_prepared_bytes", kGauge, "Octets of them"},
    {"pair.prepared_most", "tkdc_server_pair_prepared_most_bytes", kGauge,
     "Octets of them at most: the smaller data.prepared_mb of both"},
    {"pair.found", "tkdc_server_pair_found_total", kCounter,
     "Of two servers: jobs that found their circuit ready"},
    {"pair.missed", "tkdc_server_pair_missed_total", kCounter,
     "Of two servers: jobs that waited while theirs was prepared"},
    {"pair.tables_forward", "tkdc_server_pair_tables_forward", kGauge,
     "Of two servers: lookup tables left of AES's S-box"},
    {"pair.tables_inverse", "tkdc_server_pair_tables_inverse", kGauge,
     "Of two servers: lookup tables left of its inverse"},
    {"pair.tables_bytes", "tkdc_server_pair_tables_bytes", kGauge, "Octets of both"},
    {"pair.tables_most", "tkdc_server_pair_tables_most_bytes", kGauge,
     "Octets of them at most: the smaller data.tables_mb of both"},
    {"pair.tables_jobs", "tkdc_server_pair_tables_jobs_total", kCounter,
     "Of two servers: operations whose AES lookup tables did"},
    {"pair.tables_missed", "tkdc_server_pair_tables_missed_total", kCounter,
     "Of two servers: operations that did without, as too few were there"},
    {"pair.tables_last_s", "tkdc_server_pair_tables_last_seconds", kGauge,
     "Of two servers: how long lookup tables last at the present rate"},
    {"pair.may_be_known", "tkdc_server_pair_may_be_known_total", kCounter,
     "Of two servers: jobs that failed when the other server may have had the result"},
    {"most_seals", "tkdc_server_most_seals", kGauge,
     "Upper bound of what the key that sealed most has sealed"},
    {"audit_lines", "tkdc_server_audit_lines", kGauge, "Lines of its audit log"},
    {"audit_failures", "tkdc_server_audit_failures_total", kCounter,
     "Events that were not written to its audit log"},
    {"audit_room_bytes", "tkdc_server_audit_room_bytes", kGauge,
     "Room on the disk that its audit log keeps for itself"},
    {"checks_broken", "tkdc_server_checks_broken", kGauge,
     "Verifications that a lost connection broke, since the latch was released"},
    {"epoch", "tkdc_server_epoch", kGauge, "Nonce epoch of the session"},
    {"epoch_era", "tkdc_server_epoch_era", kGauge, "Era of the nonce epochs"},
    {"epochs_left", "tkdc_server_epochs_left", kGauge, "Nonce epochs that are left"},
    {"epochs_spent", "tkdc_server_epochs_spent", kGauge, "Nonce epochs spent in the last day"},
    {"epochs_per_day", "tkdc_server_epochs_per_day", kGauge, "Nonce epochs that a day may spend"},
    {"sessions", "tkdc_server_sessions_total", kCounter, "Sessions since the process began"},
    {"reconnections", "tkdc_server_reconnections_total", kCounter,
     "Connections taken up again within a session"},
    {"zero_shares", "", kGauge, ""},
    {"two_parts", "", kGauge, ""},
    {"party", "", kGauge, ""},
    {"parties", "", kGauge, ""},
    {"shares.macs", "tkdc_server_shares_macs", kGauge, "1: the session has MACs on shares"},
    {"shares.running", "tkdc_server_shares_running", kGauge, "1: shares are being worked on"},
    {"shares.wanted", "", kGauge, ""},
    {"shares.keys", "tkdc_server_shares_keys", kGauge, "Keys of the work on shares"},
    {"shares.looked_at", "tkdc_server_shares_looked_at", kGauge, "Of those: looked at so far"},
    {"shares.dealt", "tkdc_server_shares_dealt", kGauge, "Of those: given MACs"},
    {"shares.audited", "tkdc_server_shares_audited", kGauge, "Of those: whose MACs were checked"},
    {"shares.without", "tkdc_server_shares_without", kGauge, "Of those: without MACs"},
    {"shares.stale", "tkdc_server_shares_stale", kGauge, "Of those: with MACs not of one dealing"},
    {"shares.failed", "tkdc_server_shares_failed", kGauge, "Of those: whose shares differ"},
    {"shares.finished", "tkdc_server_shares_finished_total", kCounter,
     "Works on shares that ended"},
    {"shares.seconds", "tkdc_server_shares_seconds", kGauge, "How long the last one took"},
    {"shares.ended_at", "tkdc_server_shares_ended_timestamp_seconds", kGauge,
     "When the last one ended"},
    {"shares.last_audit.at", "tkdc_server_shares_audited_timestamp_seconds", kGauge,
     "When all shares were audited last"},
    {"shares.last_audit.audited", "", kGauge, ""},
    {"shares.last_audit.failed", "", kGauge, ""},
    {"shares.last_audit.without", "", kGauge, ""},
    {"shares.alarms", "tkdc_server_shares_alarms_total", kCounter, "Alarms of shares that differ"},
    {"shares.refresh_epoch", "tkdc_server_refresh_epoch", kGauge,
     "How often the shares were refreshed"},
    {"shares.refreshed_at", "tkdc_server_refreshed_timestamp_seconds", kGauge,
     "When they were refreshed last; 0: never"},
};

// 1 where the server says it, else 0.
constexpr Metric kServerSays[] = {
    {"latched", "tkdc_server_latched", kGauge,
     "1: another server deviated, and an operator has to release it"},
    {"clock_warning", "tkdc_server_clock_warning", kGauge, "1: a clock is off"},
    {"clock_error", "tkdc_server_clock_error", kGauge,
     "1: a clock is off beyond the tolerance: no ticket is sealed or opened"},
    {"certificate_warning", "tkdc_server_certificate_warning", kGauge,
     "1: its certificate ends within 30 days, or has ended"},
    {"former_keys_warning", "tkdc_server_former_keys", kGauge,
     "1: it still takes other members' former keys"},
    {"disk_warning", "tkdc_server_disk_warning", kGauge, "1: a disk has little room"},
    {"backup_warning", "tkdc_server_backup_warning", kGauge,
     "1: it is to be backed up, and has not been for three days"},
    {"dropped_warning", "tkdc_server_dropped_warning", kGauge,
     "1: a removed key is still stored a week after it was to end"},
    {"audit_trouble", "tkdc_server_audit_trouble", kGauge,
     "1: its audit log cannot be written: it serves nothing"},
    {"warning", "", kGauge, ""},
    {"audit_warning", "", kGauge, ""},
    {"revoked_unwritten", "tkdc_server_revoked_unwritten", kGauge,
     "1: a revocation is not on its disk yet"},
};

// Of the agent's counters, what is not a job's outcome.
constexpr Metric kAgentCounters[] = {
    {"late_replies", "tkdc_agent_late_replies_total", kCounter,
     "Replies of servers that nobody waited for any more"},
    {"malformed_replies", "tkdc_agent_malformed_replies_total", kCounter,
     "Replies of servers without meaning"},
    {"malformed_requests", "tkdc_agent_malformed_requests_total", kCounter,
     "Clients disconnected for a request without meaning"},
    {"slow_clients", "tkdc_agent_slow_clients_total", kCounter,
     "Clients disconnected because they did not read"},
    {"clients", "tkdc_agent_clients", kGauge, "Clients connected"},
    {"clients_accepted", "tkdc_agent_clients_accepted_total", kCounter, "Clients accepted"},
};

std::optional<double> number_of(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number()) return value.get<double>();
  return std::nullopt;
}

// `path`: a field, or an object's field behind a dot.
const json* field_of(const json& object, const std::string& path) {
  if (!object.is_object()) return nullptr;
  const std::size_t dot = path.find('.');
  const auto it = object.find(path.substr(0, dot));
  if (it == object.end()) return nullptr;
  return dot == std::string::npos ? &*it : field_of(*it, path.substr(dot + 1));
}

std::string text_of(const json& object, const char* field) {
  const json* value = field_of(object, field);
  if (value == nullptr) return {};
  return value->is_string() ? value->get<std::string>() : value->dump();
}

// Families in the order in which they were first named.
class Families {
 public:
  using Labels = std::vector<ClientMetric::Label>;

  void add(const Metric& metric, double value, Labels labels = {}) {
    ClientMetric one;
    one.label = std::move(labels);
    if (metric.type == MetricType::Counter)
      one.counter.value = value;
    else
      one.gauge.value = value;
    family(metric).metric.push_back(std::move(one));
  }
  // `unit`: so much of what was counted is 1 in the metric.
  void add_histogram(const Metric& metric, const cli::Histogram& one, Labels labels,
                     double unit = 1) {
    ClientMetric out;
    out.label = std::move(labels);
    std::uint64_t so_far = 0;
    for (std::size_t k = 0; k < one.counts.size(); ++k) {
      so_far += one.counts[k];
      out.histogram.bucket.push_back({so_far, k < one.bounds.size()
                                                  ? one.bounds[k] / unit
                                                  : std::numeric_limits<double>::infinity()});
    }
    out.histogram.sample_count = so_far;
    out.histogram.sample_sum = one.sum / unit;
    family(metric).metric.push_back(std::move(out));
  }
  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  MetricFamily& family(const Metric& metric) {
    const auto [place, is_new] = places_.emplace(metric.name, families_.size());
    if (is_new) families_.push_back({metric.name, metric.help, metric.type, {}});
    return families_[place->second];
  }

  std::vector<MetricFamily> families_;
  std::map<std::string, std::size_t> places_;
};

json list_of(const json& object, const char* field) {
  const json* value = field_of(object, field);
  return value != nullptr && value->is_array() ? *value : json::array();
}

void add_disks(Families& out, const json& server, const Families::Labels& who) {
  for (const json& disk : list_of(server, "disks")) {
    Families::Labels labels = who;
    labels.push_back({"of", text_of(disk, "of")});
    if (const json* free = field_of(disk, "free_mib"); free != nullptr && number_of(*free))
      out.add({nullptr, "tkdc_server_disk_free_bytes", kGauge, "Room left where this lies"},
              *number_of(*free) * kMiB, labels);
    if (const json* all = field_of(disk, "total_mib"); all != nullptr && number_of(*all))
      out.add({nullptr, "tkdc_server_disk_bytes", kGauge, "Room of that file system"},
              *number_of(*all) * kMiB, labels);
  }
}

void add_clocks(Families& out, const json& server, const Families::Labels& who) {
  for (const json& clock : list_of(server, "clocks")) {
    const json* ahead = field_of(clock, "ahead_ms");
    if (ahead == nullptr || !number_of(*ahead)) continue;
    Families::Labels labels = who;
    labels.push_back({"peer", text_of(clock, "party")});
    out.add({nullptr, "tkdc_server_peer_clock_ahead_seconds", kGauge,
             "How far the peer's clock is ahead of this server's"},
            *number_of(*ahead) / 1000, labels);
  }
}

void add_agents(Families& out, const json& server, const Families::Labels& who) {
  for (const json& agent : list_of(server, "agents")) {
    Families::Labels labels = who;
    labels.push_back({"agent", text_of(agent, "name")});
    if (const json* asked = field_of(agent, "asked"); asked != nullptr && number_of(*asked))
      out.add({nullptr, "tkdc_server_agent_asked_total", kCounter, "Jobs that an agent asked for"},
              *number_of(*asked), labels);
    if (const json* limited = field_of(agent, "limited"); limited != nullptr && number_of(*limited))
      out.add({nullptr, "tkdc_server_agent_limited_total", kCounter,
               "Of those: refused because it asked too often"},
              *number_of(*limited), labels);
    if (const json* had = field_of(agent, "garbled_had"); had != nullptr && number_of(*had))
      out.add({nullptr, "tkdc_server_agent_garbled_had_total", kCounter,
               "Of those: shared since it had had its quota of the circuits"},
              *number_of(*had), labels);
  }
}

// By the names that this exporter knows, so that no server makes series without end.
void add_results(Families& out, const json& server, const Families::Labels& who) {
  for (std::uint16_t k = 0; k <= TKDC_STATUS_INTERNAL; ++k) {
    const std::string word = status_word(static_cast<tkdc_status>(k));
    const json* count = field_of(server, "results." + word);
    if (count == nullptr || !number_of(*count)) continue;
    Families::Labels labels = who;
    labels.push_back({"result", word});
    out.add({nullptr, "tkdc_server_results_total", kCounter, "Jobs, by what came of them"},
            *number_of(*count), labels);
  }
}

void add_times(Families& out, const json& server, const Families::Labels& who) {
  for (const cli::OperationTime& one : cli::times_of(server)) {
    Families::Labels labels = who;
    labels.push_back({"operation", one.operation});
    out.add_histogram({nullptr, "tkdc_server_operation_seconds", MetricType::Histogram,
                       "From a job's arrival to its answer, of jobs that ran"},
                      one.ms, labels, kMsOfSecond);
    out.add_histogram({nullptr, "tkdc_server_rounds_of_operations", MetricType::Histogram,
                       "Rounds that operations took, each its own"},
                      one.rounds, labels);
    out.add_histogram({nullptr, "tkdc_server_message_bytes_of_operations", MetricType::Histogram,
                       "Octets that they sent to the other servers"},
                      one.message_bytes, labels);
  }
}

// Three malicious servers': the others have none that is a step of its own.
void add_verification(Families& out, const json& server, const Families::Labels& who) {
  const auto verification = cli::verification_of(server);
  if (!verification) return;
  out.add_histogram({nullptr, "tkdc_server_verification_seconds", MetricType::Histogram,
                     "From the wish that messages be verified to three good verdicts, of batches"},
                    verification->ms, who, kMsOfSecond);
  out.add({nullptr, "tkdc_server_verified_claims_total", kCounter,
           "Claims about products that those batches held"},
          static_cast<double>(verification->claims), who);
}

void add_lanes(Families& out, const json& server, const Families::Labels& who) {
  static constexpr Metric kOfLane[] = {
      {"rounds", "tkdc_server_lane_rounds_total", kCounter, "Rounds of a lane"},
      {"operations", "tkdc_server_lane_operations_total", kCounter, "Operations begun in a lane"},
      {"busy_s", "tkdc_server_lane_busy_seconds_total", kCounter, "Time with operations at work"},
      {"jobs", "tkdc_server_lane_jobs", kGauge, "Jobs that wait or run in a lane"},
  };
  constexpr std::size_t kMostLanes = 128;  // as above: no server makes series without end
  std::size_t lane = 0;
  for (const json& one : list_of(server, "by_lane")) {
    if (lane == kMostLanes) break;
    Families::Labels labels = who;
    labels.push_back({"lane", std::to_string(lane++)});
    for (const Metric& metric : kOfLane)
      if (const json* value = field_of(one, metric.field); value != nullptr && number_of(*value))
        out.add(metric, *number_of(*value), labels);
  }
}

void add_server(Families& out, const json& server) {
  const Families::Labels who = {{"server", text_of(server, "party")}};
  for (const Metric& metric : kServerMetrics) {
    const json* value = field_of(server, metric.field);
    if (value == nullptr || metric.name[0] == '\0') continue;
    if (const auto number = number_of(*value)) out.add(metric, *number, who);
  }
  if (field_of(server, "version") == nullptr) return;  // it did not answer: it says nothing
  for (const Metric& metric : kServerSays)
    if (metric.name[0] != '\0') out.add(metric, server.contains(metric.field) ? 1 : 0, who);
  Families::Labels build = who;
  build.push_back({"build", text_of(server, "build")});
  build.push_back({"program", text_of(server, "program")});
  build.push_back({"security", text_of(server, "security")});
  out.add({nullptr, "tkdc_server_build_info", kGauge, "1; what it runs"}, 1, build);
  add_disks(out, server, who);
  add_clocks(out, server, who);
  add_agents(out, server, who);
  add_results(out, server, who);
  add_times(out, server, who);
  add_verification(out, server, who);
  add_lanes(out, server, who);
}

void add_agent(Families& out, const json& document) {
  out.add({nullptr, "tkdc_agent_former_keys", kGauge, "1: it still takes servers' former keys"},
          field_of(document, "agent.former_keys_warning") != nullptr ? 1 : 0);
  if (const json* pending = field_of(document, "pending"); pending && number_of(*pending))
    out.add({nullptr, "tkdc_agent_pending", kGauge, "Operations under way"}, *number_of(*pending));
  for (const cli::OperationTime& one : cli::times_of(document))
    out.add_histogram(
        {nullptr, "tkdc_agent_operation_seconds", MetricType::Histogram,
         "From a client's request to the answer, of requests that reached the servers"},
        one.ms, {{"operation", one.operation}}, kMsOfSecond);
  const json* counters = field_of(document, "counters");
  if (counters == nullptr || !counters->is_object()) return;
  for (const auto& [field, value] : counters->items()) {
    const auto number = number_of(value);
    const auto named = std::ranges::find_if(
        kAgentCounters, [&](const Metric& metric) { return field == metric.field; });
    if (!number) continue;
    if (named != std::end(kAgentCounters))
      out.add(*named, *number);
    else
      out.add({nullptr, "tkdc_agent_operations_total", kCounter, "Operations, by their outcome"},
              *number, {{"outcome", field}});
  }
}

bool is_known(const std::string& field) {
  return std::ranges::any_of(kServerMetrics,
                             [&](const Metric& metric) { return field == metric.field; });
}

bool has_metrics_of_its_own(const std::string& object) {
  return object == "times" || object == "results" || object == "verification";
}

void find_unknown(const json& object, const std::string& prefix, std::set<std::string>& out) {
  for (const auto& [key, value] : object.items()) {
    const bool is_flag =
        std::ranges::any_of(kServerSays, [&](const Metric& one) { return key == one.field; });
    if (value.is_object() && !has_metrics_of_its_own(key))
      find_unknown(value, prefix + key + ".", out);
    if (number_of(value) && !is_flag && !is_known(prefix + key)) out.insert(prefix + key);
  }
}

}  // namespace

std::vector<std::string> fields_unknown(const json& document) {
  std::set<std::string> out;
  for (const json& server : list_of(document, "servers"))
    if (server.is_object()) find_unknown(server, "", out);
  return {out.begin(), out.end()};
}

std::vector<MetricFamily> metrics_of(const json& document, bool of_server) {
  Families out;
  const bool answered = document.is_object();
  if (of_server)
    out.add({nullptr, "tkdc_server_up", kGauge, "1: the server of this host answered"}, answered);
  else
    out.add({nullptr, "tkdc_agent_up", kGauge, "1: the agent answered"}, answered);
  if (!answered) return out.take();
  out.add({nullptr, "tkdc_healthy", kGauge, "1: as `tkdc status --socket` says it"},
          cli::is_healthy(document));
  if (!of_server) add_agent(out, document);
  for (const json& server : list_of(document, "servers"))
    if (server.is_object()) add_server(out, server);
  out.add({nullptr, "tkdc_exporter_fields_unknown", kGauge,
           "Numbers of the status that this exporter does not know: it is older than a server"},
          static_cast<double>(fields_unknown(document).size()));
  return out.take();
}

}  // namespace tkdc::exporter
