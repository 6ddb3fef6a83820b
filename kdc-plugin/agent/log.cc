// SPDX-License-Identifier: Apache-2.0
#include "agent/log.h"

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>

namespace tkdc::agent {
namespace {

void write_line(Level level, std::string_view text) {
  static const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  std::string line;
  if (journal) line = "<" + std::to_string(static_cast<int>(level)) + ">";
  line.append("tkdc-agent: ").append(text).push_back('\n');
  // One write per line keeps lines of several processes whole. A full pipe or
  // a closed stderr must not stop the agent.
  [[maybe_unused]] ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void log(Level level, std::string_view text) {
  static std::mutex mutex;
  static std::time_t second = 0;
  static int lines = 0;
  std::lock_guard lock(mutex);
  std::time_t now = std::time(nullptr);
  if (now != second) {
    if (lines > kLogLinesPerSecond)
      write_line(Level::kWarning, std::to_string(lines - kLogLinesPerSecond) +
                                      " log lines of one second were left out");
    second = now;
    lines = 0;
  }
  if (++lines <= kLogLinesPerSecond) write_line(level, text);
}

}  // namespace tkdc::agent
