// SPDX-License-Identifier: Apache-2.0
#include "migrate/screen.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace tkdc::migrate {
namespace {

using namespace std::chrono_literals;

volatile sig_atomic_t asked = 0;

void on_stop(int) { asked = 1; }

}  // namespace

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

bool stop_asked() { return asked != 0; }

std::string how_far(std::size_t done, std::size_t of, const std::string& what, double seconds) {
  constexpr double kMinute = 60, kLeastSeconds = 1;  // before that a rate says nothing
  std::string text = std::to_string(done) + " of " + std::to_string(of) + " " + what;
  if (done == 0 || seconds < kLeastSeconds) return text;
  const double rate = static_cast<double>(done) / seconds;
  const double left = static_cast<double>(of - std::min(done, of)) / rate;
  char more[80];
  std::snprintf(more, sizeof more, ", %.*f a second, some %.0f %s left", rate < 10 ? 1 : 0, rate,
                left < 2 * kMinute ? left : left / kMinute, left < 2 * kMinute ? "s" : "min");
  return text + more;
}

Screen::Screen() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void Screen::show(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < (terminal_ ? 200ms : 10'000ms)) return;
  shown_ = now;
  std::cerr << (terminal_ ? "\r\033[K" : "") << text << (terminal_ ? "" : "\n") << std::flush;
  open_ = terminal_;
}

void Screen::say(const std::string& text) {
  std::cerr << (open_ ? "\r\033[K" : "") << text << "\n";
  open_ = false;
}

}  // namespace tkdc::migrate
