// SPDX-License-Identifier: Apache-2.0
#include "sim/audit_lines.h"

#include <array>
#include <map>
#include <string_view>

#include "base/hex.h"
#include "sim/disk.h"
#include "sim/realm.h"

namespace tkdc::sim {
namespace {

constexpr std::string_view kServed = R"("result":"ok")";

using Work = std::pair<std::string, std::string>;  // operation, key

// Of one life.
struct Count {
  std::size_t read = 0;  // octets of its log
  std::uint64_t lines = 0, answers = 0;
  std::map<Work, std::int64_t> asked;  // more often than a line says that it was done
  bool begun = false;
};
std::array<Count, kServers> counts;

Count& count_of(const Host& host) { return counts[static_cast<std::size_t>(host.number)]; }

std::string log_of(const Host& host) {
  const ServerHost& server = *realm().servers[static_cast<std::size_t>(host.number)];
  return disk_of(host).text(server.config().audit_file);
}

std::string value_in(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == line.npos) return "";
  const std::string_view rest = line.substr(at + name.size());
  return std::string(rest.substr(0, rest.find('"')));
}

void read_line(const Host& host, Count& count, std::string_view line) {
  const std::string operation = value_in(line, R"("operation":")");
  if (operation.empty() || line.find(kServed) == line.npos) return;
  ++count.lines;
  const std::string key = value_in(line, R"("key":")");
  if (--count.asked[{operation, key}] < 0)
    world().broken("audit", host.name + " has a line more than it was asked to " + operation +
                                " with key " + key.substr(0, 8));
}

// A line whose newline found no room is one.
void read_on(const Host& host, Count& count) {
  const std::string log = log_of(host);
  while (count.read < log.size()) {
    const std::string_view rest = std::string_view(log).substr(count.read);
    const std::size_t end = rest.find('\n');
    if (end == rest.npos && !rest.ends_with("}}")) return;
    read_line(host, count, rest.substr(0, end));
    count.read += end == rest.npos ? rest.size() : end + 1;
  }
}

}  // namespace

void new_audit_lines() { counts = {}; }

void note_life(const Host& host) {
  Count& count = count_of(host);
  count = {};
  count.begun = true;
  count.read = log_of(host).size();
}

void note_request(const Host& host, const JobRequest& request) {
  const char* operation = tkdc_wire_op_name(static_cast<std::uint8_t>(request.op));
  ++count_of(host).asked[{operation, to_hex(request.key.id)}];
}

void note_answer(const Host& host) {
  Count& count = count_of(host);
  if (!count.begun) return;
  ++count.answers;
  read_on(host, count);
  if (count.lines < count.answers)
    world().broken("audit", host.name + " has answered " + std::to_string(count.answers) +
                                " jobs, and has " + std::to_string(count.lines) + " lines");
}

void judge_audit_lines(const Host& host) {
  Count& count = count_of(host);
  if (count.begun) read_on(host, count);
  count.begun = false;
}

}  // namespace tkdc::sim
