// SPDX-License-Identifier: Apache-2.0
#include "storm/watch.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tkdc::storm {
namespace {

ProcessUsage usage_of_one(int pid) {
  ProcessUsage usage;
  std::string folder = "/proc/" + std::to_string(pid);
  std::ifstream in(folder + "/stat");
  std::string line;
  std::getline(in, line);
  // The name in parentheses may hold anything; what follows it is numbers.
  std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return usage;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0, resident_pages = 0;
  fields >> user >> system;
  for (int field = 16; field < 24; ++field) fields >> skipped;
  fields >> resident_pages;
  auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  usage.user_s = user / ticks;
  usage.system_s = system / ticks;
  usage.resident_mb = resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder + "/fd", error), end; !error && it != end;
       it.increment(error))
    ++usage.files;
  return usage;
}

}  // namespace

bool parse_watched(const std::string& text, Watched& out) {
  std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  out.name = text.substr(0, equals);
  const char* at = text.data() + equals + 1;
  const char* end = text.data() + text.size();
  for (;;) {
    int pid = 0;
    auto [next, error] = std::from_chars(at, end, pid);
    if (error != std::errc() || pid <= 0) return false;
    out.pids.push_back(pid);
    if (next == end) return true;
    if (*next != '+') return false;
    at = next + 1;
  }
}

ProcessUsage usage_of(const std::vector<int>& pids) {
  ProcessUsage sum;
  for (int pid : pids) {
    ProcessUsage one = usage_of_one(pid);
    sum.user_s += one.user_s;
    sum.system_s += one.system_s;
    sum.resident_mb += one.resident_mb;
    sum.files += one.files;
  }
  return sum;
}

Watch::Watch(std::vector<Watched> processes) : processes_(std::move(processes)) {
  processes_.push_back({"tkdc-storm", {getpid()}, {}, {}});
}

void Watch::begin() {
  for (Watched& process : processes_) process.first = usage_of(process.pids);
}

void Watch::tick() {
  for (Watched& process : processes_) process.seconds.push_back(usage_of(process.pids));
}

}  // namespace tkdc::storm
