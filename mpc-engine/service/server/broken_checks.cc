// SPDX-License-Identifier: Apache-2.0
#include "service/server/broken_checks.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <sstream>

#include "base/disk.h"
#include "base/durable_file.h"
#include "base/machine.h"
#include "base/system_error.h"
#include "base/utc_time.h"

namespace tkdc {
namespace {

constexpr std::uint64_t kDayS = 86'400;
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 24;

std::string line_of(const BrokenCheck& check) {
  return std::to_string(check.at_s) + " " + (check.party ? std::to_string(*check.party) : "-") +
         (check.opened ? " 1\n" : " 0\n");
}

BrokenCheck parse(const std::string& line) {
  std::istringstream in(line);
  BrokenCheck check;
  std::string party, opened, more;
  const bool read = static_cast<bool>(in >> check.at_s >> party >> opened) && !(in >> more);
  const bool known = party == "0" || party == "1" || party == "2";
  if (!read || (!known && party != "-") || (opened != "0" && opened != "1"))
    return {wall_s(), std::nullopt, true};
  if (known) check.party = party[0] - '0';
  check.opened = opened == "1";
  return check;
}

Result<void> append(const std::string& file, const std::string& text) {
  if (append_durably(file, text)) return {};
  return system_error("the file " + file + " cannot be written",
                      "broken checks count only until this server is restarted: see to the disk");
}

}  // namespace

Result<void> BrokenChecks::add(const BrokenCheck& check) {
  std::string text;
  for (const BrokenCheck& one : unwritten_) text += line_of(one);
  auto written = append(file_, text + line_of(check));
  if (written)
    unwritten_.clear();
  else
    unwritten_.push_back(check);
  return written;
}

std::vector<BrokenCheck> BrokenChecks::all() const {
  std::vector<BrokenCheck> checks;
  const auto text = disk().read(file_, 0, kMaxFileBytes);
  if (!text && errno != ENOENT) checks.push_back({wall_s(), std::nullopt, true});
  std::istringstream in(text.value_or(""));
  for (std::string line; std::getline(in, line);) checks.push_back(parse(line));
  checks.insert(checks.end(), unwritten_.begin(), unwritten_.end());
  return checks;
}

BrokenCount in_the_last_day(const std::vector<BrokenCheck>& checks, std::uint64_t now) {
  BrokenCount count;
  for (const BrokenCheck& check : checks) {
    if (check.at_s + kDayS <= now) continue;
    ++count.all;
    if (check.opened) ++count.opened;
  }
  return count;
}

std::string describe(const std::vector<BrokenCheck>& checks) {
  if (checks.empty()) return "none";
  std::map<std::string, std::size_t> by_party;
  std::size_t opened = 0;
  std::uint64_t since = checks.front().at_s;
  for (const BrokenCheck& check : checks) {
    const std::string who =
        check.party ? "server " + std::to_string(*check.party) : "no one server";
    ++by_party[who];
    opened += check.opened ? 1 : 0;
    since = std::min(since, check.at_s);
  }
  std::string text = std::to_string(checks.size()) + " since " +
                     format_utc(static_cast<std::int64_t>(since)) + " (";
  const char* between = "";
  for (const auto& [who, count] : by_party) {
    text += between + std::to_string(count) + " with " + who;
    between = ", ";
  }
  return text + "; " + std::to_string(opened) + " after the factors had left)";
}

Result<bool> forget_broken_checks(const std::string& file) {
  if (remove_durably(file)) return true;
  if (errno == ENOENT) return false;
  return system_error("the file " + file + " cannot be removed");
}

}  // namespace tkdc
