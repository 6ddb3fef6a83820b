// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/metrics.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/machine.h"
#include "service/wire/times_json.h"
#include "tools/cli/operation_time.h"
#include "tools/cli/status_table.h"
#include "tools/exporter/metric_tables.h"

namespace tkdc::exporter {
namespace {

using nlohmann::json;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr double kMiB = 1024 * 1024, kMsOfSecond = 1000;

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
    if (const json* silent = field_of(agent, "silent_s"); silent != nullptr && number_of(*silent))
      out.add({nullptr, "tkdc_server_agent_silent_seconds", kGauge,
               "Since the agent last said anything"},
              *number_of(*silent), labels);
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
    if (metric.name[0] != '\0')
      out.add(metric, field_of(server, metric.field) != nullptr ? 1 : 0, who);
  out.add({nullptr, "tkdc_server_revoked_now", kGauge,
           "1: what is sealed now was revoked: nobody can log in"},
          cli::revoked_now(server, static_cast<std::int64_t>(wall_s())) ? 1 : 0, who);
  out.add({nullptr, "tkdc_server_epoch_alarms", kGauge,
           "Alarms about nonce epochs: used up too fast, or few left"},
          static_cast<double>(list_of(server, "epoch_alarms").size()), who);
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

// Where nobody can ask it, its unit is what is seen.
void add_other_agents(Families& out, const json& document) {
  for (const json& agent : list_of(document, "other_agents")) {
    if (field_of(agent, "spare") != nullptr) continue;
    const auto says = [&](const char* field) {
      const json* value = field_of(agent, field);
      return value != nullptr && value->is_boolean() && value->get<bool>();
    };
    out.add({nullptr, "tkdc_other_agent_up", kGauge,
             "1: another agent of this host answers, or without a status_socket its unit runs"},
            says("reachable") || says("running") ? 1 : 0, {{"agent", text_of(agent, "name")}});
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
  out.add({nullptr, "tkdc_healthy", kGauge, "1: as `tkdc status --no-database --socket` says it"},
          cli::is_healthy(document));
  if (!of_server) add_agent(out, document);
  if (!of_server) add_other_agents(out, document);
  for (const json& server : list_of(document, "servers"))
    if (server.is_object()) add_server(out, server);
  out.add({nullptr, "tkdc_exporter_fields_unknown", kGauge,
           "Numbers of the status that this exporter does not know: it is older than a server"},
          static_cast<double>(fields_unknown(document).size()));
  return out.take();
}

}  // namespace tkdc::exporter
