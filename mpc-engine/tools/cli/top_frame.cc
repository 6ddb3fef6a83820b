// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/top_frame.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/cli/operation_time.h"
#include "tools/cli/printable.h"
#include "tools/cli/status_table.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRows = 128;  // of what a server lists
constexpr double kMedian = 0.5, kLate = 0.99, kMiB = 1024 * 1024, kKiB = 1024;

const json& field_at(const json& object, const char* field) {
  static const json nothing;
  if (!object.is_object()) return nothing;
  const auto it = object.find(field);
  return it == object.end() ? nothing : *it;
}

double number_in(const json& object, const char* field) {
  const json& value = field_at(object, field);
  return value.is_number() ? value.get<double>() : 0;
}

bool is_true(const json& object, const char* field) {
  const json& value = field_at(object, field);
  return value.is_boolean() && value.get<bool>();
}

std::string text_in(const json& object, const char* field) {
  const json& value = field_at(object, field);
  return value.is_string() ? value.get<std::string>() : "";
}

json list_in(const json& object, const char* field) {
  const json& value = field_at(object, field);
  json out = value.is_array() ? value : json::array();
  if (out.size() > kMostRows) out.erase(out.begin() + kMostRows, out.end());
  return out;
}

// Of two objects' field, by the second.
double rate(const json& before, const json& now, const char* field, double seconds) {
  const double was = number_in(before, field), is = number_in(now, field);
  return (is < was ? is : is - was) / seconds;
}

// The element whose `field` is the same; null: there was none.
const json& same(const json& list, const json& one, const char* field) {
  static const json nothing;
  const auto it = std::ranges::find_if(
      list, [&](const json& other) { return field_at(other, field) == field_at(one, field); });
  return it == list.end() ? nothing : *it;
}

// The server whose figures stand for the three: the first that says what its operations took.
json speaker(const json& document) {
  const json servers = list_in(document, "servers");
  const auto it = std::ranges::find_if(servers, [](const json& one) {
    return is_true(one, "reachable") && field_at(one, "by_lane").is_array();
  });
  return it == servers.end() ? json() : *it;
}

json times_frame(const OperationTime& of, double seconds) {
  const auto count = static_cast<double>(of.count());
  const double each = count > 0 ? count : 1;
  return {{"per_s", count / seconds},
          {"p50_ms", quantile(of.ms, kMedian)},
          {"p99_ms", quantile(of.ms, kLate)},
          {"rounds", of.rounds.sum / each},
          {"message_bytes", of.message_bytes.sum / each}};
}

// At the servers, and as this agent's clients have it.
json operations_frame(const json& before, const json& now, const json& server, double seconds) {
  const auto were = times_of(same(list_in(before, "servers"), server, "party"));
  const auto at_servers = times_since(times_of(server), were);
  const auto at_agent = times_since(times_of(now), times_of(before));
  json out = json::array();
  const auto row = [&](const std::string& operation) -> json& {
    for (json& one : out)
      if (one["operation"] == operation) return one;
    out.push_back({{"operation", operation}});
    return out.back();
  };
  for (const OperationTime& one : at_servers)
    row(one.operation)["servers"] = times_frame(one, seconds);
  for (const OperationTime& one : at_agent) row(one.operation)["agent"] = times_frame(one, seconds);
  return out;
}

json agents_frame(const json& before, const json& server, double seconds) {
  const json were = list_in(same(list_in(before, "servers"), server, "party"), "agents");
  json out = json::array();
  for (const json& agent : list_in(server, "agents")) {
    const json& was = same(were, agent, "name");
    out.push_back({{"name", text_in(agent, "name")},
                   {"per_s", rate(was, agent, "asked", seconds)},
                   {"limited_per_s", rate(was, agent, "limited", seconds)},
                   {"asked", number_in(agent, "asked")}});
  }
  return out;
}

json lanes_frame(const json& before, const json& server, double seconds) {
  const json were = list_in(same(list_in(before, "servers"), server, "party"), "by_lane");
  json out = json::array();
  for (const json& lane : list_in(server, "by_lane")) {
    const std::size_t k = out.size();
    const json was = k < were.size() ? were[k] : json();
    out.push_back({{"lane", k},
                   {"jobs", number_in(lane, "jobs")},
                   {"busy", std::min(1.0, rate(was, lane, "busy_s", seconds))},
                   {"operations_per_s", rate(was, lane, "operations", seconds)},
                   {"rounds_per_s", rate(was, lane, "rounds", seconds)}});
  }
  return out;
}

// How far the farthest of its peers' clocks is off; null: it has not heard of one.
json clock_of(const json& server) {
  json off;
  for (const json& clock : list_in(server, "clocks"))
    if (field_at(clock, "ahead_ms").is_number())
      off = std::max(off.is_null() ? 0 : off.get<double>(), std::abs(number_in(clock, "ahead_ms")));
  return off;
}

json servers_frame(const json& before, const json& now, double seconds) {
  const json were = list_in(before, "servers");
  json out = json::array();
  for (const json& server : list_in(now, "servers")) {
    const json& was = same(were, server, "party");
    json one = {{"party", field_at(server, "party")},
                {"reachable", is_true(server, "reachable")},
                {"session_up", is_true(server, "session_up")},
                {"clocks_off_ms", clock_of(server)},
                {"pending_jobs", number_in(server, "pending_jobs")},
                {"circuits_ready", number_in(server, "garbled_ready")}};
    for (const auto& [field, name] :
         {std::pair("jobs_done", "done_per_s"), std::pair("jobs_refused", "refused_per_s"),
          std::pair("jobs_failed", "failed_per_s"), std::pair("rounds", "rounds_per_s"),
          std::pair("message_bytes_sent", "message_bytes_per_s"),
          std::pair("masks_made", "masks_made_per_s")})
      one[name] = rate(was, server, field, seconds);
    out.push_back(std::move(one));
  }
  return out;
}

// ---- for people

// In so many columns, to the right.
std::string column(double value, int width, int digits = 1) {
  char out[64];
  if (value >= 99'999.5) digits = 0;
  if (value >= 999'999.5)
    std::snprintf(out, sizeof out, "%*.3g", width, value);
  else
    std::snprintf(out, sizeof out, "%*.*f", width, digits, value);
  return out;
}

std::string left(const std::string& said, std::size_t width) {
  std::string out = printable(said).substr(0, width);
  return out + std::string(width - out.size(), ' ');
}

std::string right(const std::string& said, std::size_t width) {
  return said.size() < width ? std::string(width - said.size(), ' ') + said : said.substr(0, width);
}

std::string quantiles(const json& times) {
  if (!times.is_object()) return right("-", 9) + right("-", 9) + right("-", 9);
  const double per_s = number_in(times, "per_s");
  if (per_s == 0) return column(0, 9) + right("-", 9) + right("-", 9);
  return column(per_s, 9) + column(number_in(times, "p50_ms"), 9) +
         column(number_in(times, "p99_ms"), 9);
}

void add_operations(std::vector<std::string>& out, const json& frame) {
  const bool of_agent = field_at(frame, "agent").is_string();
  out.push_back("OPERATION           /s   p50 ms   p99 ms  ROUNDS" +
                std::string(of_agent ? "  AGENT: /s   p50 ms   p99 ms" : "  KiB"));
  for (const json& one : list_in(frame, "operations")) {
    const json& servers = field_at(one, "servers");
    std::string line = left(text_in(one, "operation"), 13) + quantiles(servers) +
                       column(number_in(servers, "rounds"), 8, 0);
    line += of_agent ? "  " + quantiles(field_at(one, "agent"))
                     : column(number_in(servers, "message_bytes") / kKiB, 5, 0);
    out.push_back(line);
  }
}

void add_servers(std::vector<std::string>& out, const json& frame) {
  out.emplace_back(
      "SERVER STATE  CLOCK ms PENDING    DONE/s REFUSED/s FAILED/s ROUNDS/s  MiB/s CIRC.");
  for (const json& one : list_in(frame, "servers")) {
    const bool up = is_true(one, "session_up");
    const json& off = field_at(one, "clocks_off_ms");
    out.push_back(
        left(field_at(one, "party").dump(), 7) +
        left(!is_true(one, "reachable") ? "AWAY"
             : up                       ? "up"
                                        : "DOWN",
             5) +
        (off.is_number() ? column(off.get<double>(), 10, 0) : right("-", 10)) +
        column(number_in(one, "pending_jobs"), 8, 0) + column(number_in(one, "done_per_s"), 10) +
        column(number_in(one, "refused_per_s"), 10) + column(number_in(one, "failed_per_s"), 9) +
        column(number_in(one, "rounds_per_s"), 9, 0) +
        column(number_in(one, "message_bytes_per_s") / kMiB, 7) +
        column(number_in(one, "circuits_ready"), 5, 0));
  }
}

void add_agents(std::vector<std::string>& out, const json& frame) {
  out.emplace_back("AGENT                            /s  LIMITED/s        TOTAL");
  for (const json& one : list_in(frame, "agents"))
    out.push_back(left(text_in(one, "name"), 26) + column(number_in(one, "per_s"), 9) +
                  column(number_in(one, "limited_per_s"), 11) +
                  column(number_in(one, "asked"), 13, 0));
}

void add_lanes(std::vector<std::string>& out, const json& frame) {
  out.emplace_back("LANE    JOBS  BUSY %  OPERATIONS/s  ROUNDS/s");
  for (const json& one : list_in(frame, "lanes"))
    out.push_back(left(field_at(one, "lane").dump(), 5) + column(number_in(one, "jobs"), 7, 0) +
                  column(100 * number_in(one, "busy"), 8, 0) +
                  column(number_in(one, "operations_per_s"), 14) +
                  column(number_in(one, "rounds_per_s"), 10, 0));
}

}  // namespace

json top_frame(const json& before, const json& now, double seconds) {
  const json server = speaker(now);
  json frame = {{"seconds", seconds},
                {"healthy", is_healthy(now)},
                {"faults", faults_of(now)},
                {"security", field_at(now, "security")},
                {"parties", parties_of(now)},
                {"figures_of_server", field_at(server, "party")},
                {"operations", operations_frame(before, now, server, seconds)},
                {"agents", agents_frame(before, server, seconds)},
                {"servers", servers_frame(before, now, seconds)},
                {"lanes", lanes_frame(before, server, seconds)}};
  if (const json& agent = field_at(now, "agent"); agent.is_object()) {
    frame["agent"] = text_in(agent, "name");
    frame["pending"] = number_in(now, "pending");
  }
  return frame;
}

std::vector<std::string> top_lines(const json& frame, const std::string& when) {
  const bool of_agent = field_at(frame, "agent").is_string();
  const std::string who = of_agent ? "agent " + text_in(frame, "agent")
                                   : "server " + field_at(frame, "figures_of_server").dump();
  std::vector<std::string> out;
  const std::string head =
      "tkdc top, " + who + ": " + (is_true(frame, "healthy") ? "healthy" : "DEGRADED") + ", " +
      (number_in(frame, "parties") == 2 ? "two servers, " : "") + text_in(frame, "security");
  out.push_back(left(head, 68) + right(when, 12));
  for (const json& fault : list_in(frame, "faults"))
    if (fault.is_string()) out.push_back("  " + fault.get<std::string>());
  out.emplace_back();
  add_operations(out, frame);
  out.emplace_back();
  add_servers(out, frame);
  out.emplace_back();
  add_lanes(out, frame);
  out.emplace_back();
  add_agents(out, frame);
  for (std::string& line : out) line = printable(line).substr(0, 80);
  return out;
}

}  // namespace tkdc::cli
