// SPDX-License-Identifier: Apache-2.0
#include "migrate/screen.h"

#include <signal.h>
#include <unistd.h>

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
