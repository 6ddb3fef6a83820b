// SPDX-License-Identifier: Apache-2.0
#include "base/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace tkdc {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kOnTerminal{200}, kElsewhere{10'000};
constexpr const char* kOver = "\r\033[K";  // back to its beginning, and empty

}  // namespace

std::string how_far(std::size_t done, std::size_t of, const std::string& what, double seconds,
                    std::size_t before) {
  constexpr double kMinute = 60, kLeastSeconds = 1;  // before that a rate says nothing
  std::string text = std::to_string(done) + " of " + std::to_string(of) + " " + what;
  if (done <= before || seconds < kLeastSeconds) return text;
  const double rate = static_cast<double>(done - before) / seconds;
  const double left = static_cast<double>(of - std::min(done, of)) / rate;
  char more[80];
  std::snprintf(more, sizeof more, ", %.*f a second, some %.0f %s left", rate < 10 ? 1 : 0, rate,
                left < 2 * kMinute ? left : left / kMinute, left < 2 * kMinute ? "s" : "min");
  return text + more;
}

ProgressLine::ProgressLine() : ProgressLine(std::cerr, ::isatty(STDERR_FILENO) == 1) {}

ProgressLine::ProgressLine(std::ostream& out, bool terminal)
    : out_(out), terminal_(terminal), due_(Clock::now() + (terminal ? 0ms : kElsewhere)) {}

void ProgressLine::show(const std::string& text) {
  const Clock::time_point now = Clock::now();
  if (now < due_) return;
  due_ = now + (terminal_ ? kOnTerminal : kElsewhere);
  out_ << (terminal_ ? kOver : "") << text << (terminal_ ? "" : "\n") << std::flush;
  open_ = terminal_;
}

void ProgressLine::show(std::size_t done, std::size_t of, const std::string& what) {
  const Clock::time_point now = Clock::now();
  if (!begun_ || done < begun_->done) begun_ = {now, done};
  if (now < due_) return;
  const std::chrono::duration<double> since = now - begun_->at;
  show(how_far(done, of, what, since.count(), begun_->done));
}

void ProgressLine::say(const std::string& text) {
  clear();
  out_ << text << "\n";
}

void ProgressLine::clear() {
  if (open_) out_ << kOver << std::flush;
  open_ = false;
}

}  // namespace tkdc
