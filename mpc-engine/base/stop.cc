// SPDX-License-Identifier: Apache-2.0
#include "base/stop.h"

#include <signal.h>

namespace tkdc {
namespace {

volatile sig_atomic_t stop_signal = 0;

void on_stop(int) { stop_signal = 1; }

}  // namespace

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

bool stop_asked() { return stop_signal != 0; }

Result<void> look(const Watch& watch, std::uint64_t done, std::uint64_t of) {
  if (!watch || watch(done, of)) return {};
  return fail("stopped, as it was asked to");
}

}  // namespace tkdc
