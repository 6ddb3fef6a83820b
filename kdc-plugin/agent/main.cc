// SPDX-License-Identifier: Apache-2.0
// tkdc-agent: see tkdc-agent(8).
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "agent/agent.h"
#include "agent/log.h"

namespace {

using tkdc::agent::Agent;
using tkdc::agent::Level;

Agent* running = nullptr;

void on_stop(int) { running->stop(); }
void on_hangup(int) { running->reopen_log(); }

// The agent sees plaintexts: no core file and no debugger of the same user.
// TKDC_ALLOW_DUMP=1 lifts this to show what its memory holds and what not.
void forbid_dumps() {
  const char* allow = std::getenv("TKDC_ALLOW_DUMP");
  if (allow != nullptr && std::strcmp(allow, "1") == 0) return;
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void handle_signals(Agent& agent) {
  running = &agent;
  struct sigaction action {};
  action.sa_handler = on_stop;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  action.sa_handler = on_hangup;
  ::sigaction(SIGHUP, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

// Room for kMaxClients connections, whatever the service manager's soft limit.
void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4 * tkdc::agent::kMaxClients);
  ::setrlimit(RLIMIT_NOFILE, &files);
}

int usage() {
  std::cerr << "usage: tkdc-agent --config FILE [--check-config]\n"
               "       tkdc-agent --version\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::string config_path;
  bool check_only = false;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--version") {
      std::cout << "tkdc-agent " TKDC_VERSION "\n";
      return 0;
    }
    if (argument == "--check-config")
      check_only = true;
    else if (argument == "--config" && i + 1 < argc)
      config_path = argv[++i];
    else
      return usage();
  }
  if (config_path.empty()) return usage();

  forbid_dumps();
  raise_file_limit();
  ::umask(077);
  if (sodium_init() < 0) {
    tkdc::agent::log(Level::kError, "libsodium cannot start: the system has no random generator");
    return 1;
  }
  auto config = tkdc::agent::load_config(config_path);
  if (!config) {
    tkdc::agent::log(Level::kError, config.error().message);
    return 1;
  }
  if (check_only) {
    std::cout << config_path << ": good\n";
    return 0;
  }
  auto agent = Agent::create(std::move(config).value());
  if (!agent) {
    tkdc::agent::log(Level::kError, agent.error().message);
    return 1;
  }
  handle_signals(*agent.value());
  tkdc::Result<void> ended = agent.value()->run();
  if (ended) return 0;
  tkdc::agent::log(Level::kError, ended.error().message);
  return 1;
}
