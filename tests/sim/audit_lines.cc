// SPDX-License-Identifier: Apache-2.0
#include "sim/audit_lines.h"

#include <array>
#include <string_view>

#include "sim/disk.h"
#include "sim/realm.h"

namespace tkdc::sim {
namespace {

constexpr std::string_view kServed = R"("result":"ok")", kOperation = R"("operation":")",
                           kTooLate = "finished after its deadline";

// Of one life.
struct Count {
  std::size_t read = 0;  // octets of its log
  std::uint64_t lines = 0, late = 0, answers = 0;
  bool begun = false;
};
std::array<Count, kServers> counts;

// The log is appended to, but for a start, which may cut a line off its end.
void read_on(const std::string& log, Count& count) {
  for (std::size_t end; (end = log.find('\n', count.read)) != std::string::npos;) {
    const std::string_view line = std::string_view(log).substr(count.read, end - count.read);
    count.read = end + 1;
    if (line.find(kOperation) == line.npos || line.find(kServed) == line.npos) continue;
    if (line.find(kTooLate) == line.npos)
      ++count.lines;
    else
      ++count.late;
  }
}

Count& count_of(const Host& host) { return counts[static_cast<std::size_t>(host.number)]; }

const std::string& log_of(const Host& host) {
  static std::string text;
  text = disk_of(host).text(
      realm().servers[static_cast<std::size_t>(host.number)]->config().audit_file);
  return text;
}

std::string said(const Count& count) {
  return std::to_string(count.answers) + " answers, " + std::to_string(count.lines) + " lines";
}

}  // namespace

void new_audit_lines() { counts = {}; }

void note_life(const Host& host) {
  Count& count = count_of(host);
  count = {};
  count.begun = true;
  count.read = log_of(host).size();
}

void note_answer(const Host& host) {
  Count& count = count_of(host);
  if (!count.begun) return;
  ++count.answers;
  read_on(log_of(host), count);
  if (count.lines < count.answers)
    world().broken("audit", host.name + " answers without a line: " + said(count));
}

void judge_audit_lines(const Host& host) {
  Count& count = count_of(host);
  if (!count.begun) return;
  read_on(log_of(host), count);
  if (count.lines != count.answers)
    world().broken("audit", host.name + " has lines twice: " + said(count));
  count.begun = false;
}

}  // namespace tkdc::sim
