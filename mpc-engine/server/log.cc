// SPDX-License-Identifier: Apache-2.0
#include "server/log.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "net/socket.h"

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

void write_line(LogLevel level, const std::string& text) {
  std::string line = "<" + std::to_string(static_cast<int>(level)) + ">" +
                     text.substr(0, kMaxLineBytes);
  // What a peer said may be quoted in it: no line of its own making.
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  line += '\n';
  [[maybe_unused]] ssize_t n = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void log_line(LogLevel level, const std::string& text) {
  Limit& state = limit();
  std::lock_guard lock(state.mutex);
  long long now = monotonic_ms() / 1000;
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
