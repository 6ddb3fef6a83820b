// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>

namespace tkdc {
namespace {

constexpr std::size_t kMaxLineBytes = 2'000;

struct Limit {
  std::mutex mutex;
  long long second = 0;
  int lines = 0;
  int dropped = 0;
};

Limit& limit() {
  static Limit one;
  return one;
}

void write_line(LogLevel level, std::string_view text) {
  static const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  std::string line = journal ? std::string("<") + std::to_string(static_cast<int>(level)) + ">"
                             : std::string(program_invocation_short_name) + ": ";
  line += text.substr(0, kMaxLineBytes);
  // What a peer said may be quoted in it: no line of its own making.
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  line += '\n';
  // One write keeps lines of several processes whole; a full pipe stops nobody.
  [[maybe_unused]] ssize_t n = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void log_line(LogLevel level, std::string_view text) {
  Limit& state = limit();
  std::lock_guard lock(state.mutex);
  using namespace std::chrono;
  long long now = duration_cast<seconds>(steady_clock::now().time_since_epoch()).count();
  if (now != state.second) {
    if (state.dropped > 0)
      write_line(LogLevel::kWarning,
                 "log: " + std::to_string(state.dropped) + " lines of a second left out");
    state.second = now;
    state.lines = state.dropped = 0;
  }
  if (++state.lines > kLogLinesPerSecond) {
    state.dropped++;
    return;
  }
  write_line(level, text);
}

}  // namespace tkdc
