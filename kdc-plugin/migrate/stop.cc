// SPDX-License-Identifier: Apache-2.0
#include "migrate/stop.h"

#include <signal.h>

namespace tkdc::migrate {
namespace {

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

}  // namespace tkdc::migrate
