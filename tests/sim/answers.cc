// SPDX-License-Identifier: Apache-2.0
#include "sim/answers.h"

#include <map>
#include <set>
#include <string>

#include "base/hex.h"
#include "service/server/control_plane.h"
#include "sim/lying_agent.h"
#include "sim/realm.h"

namespace tkdc::sim {
namespace {

using JobOf = std::tuple<int, std::uint64_t, std::uint64_t>;  // agent, run, number
using What = std::string;                                     // agent's id, operation, key

struct Asked {
  std::map<JobOf, What> asked;  // what is not answered yet; empty: it has no line
  std::set<JobOf> had;          // ever
  std::map<What, int> requests, results, lines;
  std::size_t read = 0;  // of its log
};
std::array<Asked, kServers> asked_of;

bool has_line(tkdc_wire_op op) {
  return op != TKDC_OP_STATUS && op != TKDC_OP_LIST && op != TKDC_OP_LIST_DROPPED;
}

const std::string* log_of(int server) {
  const auto& names = disk_of(world().hosts[static_cast<std::size_t>(server)]).names;
  const auto file =
      names.find(realm().servers[static_cast<std::size_t>(server)]->config().audit_file);
  return file == names.end() ? nullptr : &file->second->contents;
}

std::string field_of(std::string_view line, std::string_view name) {
  const std::string before = '"' + std::string(name) + "\":\"";
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  const std::size_t from = at + before.size();
  return std::string(line.substr(from, line.find('"', from) - from));
}

std::string id_of(int server, int agent) {
  const auto& agents = realm().servers[static_cast<std::size_t>(server)]->config().agents;
  const std::uint64_t id =
      agent_id(agents[static_cast<std::size_t>(agent - kKdc)].curve_public_key);
  return to_hex({reinterpret_cast<const std::uint8_t*>(&id), sizeof id});
}

void read_log(int server) {
  Asked& here = asked_of[static_cast<std::size_t>(server)];
  const std::string* log = log_of(server);
  if (log == nullptr) return;
  if (log->size() < here.read) here.read = 0;
  while (here.read < log->size()) {
    const std::string_view rest = std::string_view(*log).substr(here.read);
    const std::size_t end = rest.find('\n');
    if (end == rest.npos && !rest.ends_with("}}")) return;  // whole but for its newline it is one
    const std::string_view line = rest.substr(0, end);
    here.read += end == rest.npos ? rest.size() : end + 1;
    if (field_of(line, "result") != tkdc_status_text(TKDC_STATUS_OK)) continue;
    const What what =
        field_of(line, "agent") + " " + field_of(line, "operation") + " " + field_of(line, "key");
    if (++here.lines[what] > here.requests[what])
      world().broken("audit", world().hosts[static_cast<std::size_t>(server)].name +
                                  " has more lines than it was asked: " + what);
  }
}

}  // namespace

void new_answers() { asked_of = {}; }

void forget_asked(int server) {
  Asked& here = asked_of[static_cast<std::size_t>(server)];
  here.asked.clear();
  here.had.clear();
}

std::size_t unanswered(int server, int agent) {
  const auto& all = asked_of[static_cast<std::size_t>(server)].asked;
  return static_cast<std::size_t>(
      std::distance(all.lower_bound({agent, 0, 0}), all.lower_bound({agent + 1, 0, 0})));
}

void begin_log_anew(int server) {
  const std::string* log = log_of(server);
  Asked& here = asked_of[static_cast<std::size_t>(server)];
  here.read = log == nullptr ? 0 : log->size();
  forget_asked(server);
}

void note_request(int server, int agent, const JobRequest& request) {
  Asked& here = asked_of[static_cast<std::size_t>(server)];
  const JobOf name{agent, request.name.run, request.name.number};
  const std::string op(tkdc_wire_op_name(static_cast<std::uint8_t>(request.op)));
  const What what = has_line(request.op)
                        ? id_of(server, agent) + " " + op + " " + to_hex(request.key.id)
                        : What();
  here.asked.emplace(name, what);
  if (here.had.insert(name).second) ++here.requests[what];
}

void note_answer(int server, int agent, const JobReply& reply) {
  Asked& here = asked_of[static_cast<std::size_t>(server)];
  const std::string& who = world().hosts[static_cast<std::size_t>(server)].name;
  const auto asked = here.asked.extract({agent, reply.run, reply.number});
  if (asked.empty())
    return world().broken("answers",
                          who + " answers what it was not asked by agent " + std::to_string(agent));
  const What& what = asked.mapped();
  if (reply.status != TKDC_STATUS_OK || what.empty()) return;
  if (was_lied_about(agent, reply.run, reply.number))
    return world().broken("answers",
                          who + " carried out what servers were not asked alike: " + what);
  read_log(server);
  if (++here.results[what] > here.lines[what])
    world().broken("audit", who + " gives a result of which its log has no line: " + what);
}

}  // namespace tkdc::sim
