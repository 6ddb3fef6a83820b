// SPDX-License-Identifier: Apache-2.0
// tkdc-agent: see tkdc-agent(8).
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "agent/agent.h"
#include "agent/log.h"
#include "base/hardening.h"
#include "base/version.h"

namespace {

using tkdc::agent::Agent;
using tkdc::agent::Level;

Agent* running = nullptr;

void on_stop(int) { running->stop(); }
void on_hangup(int) { running->reopen_log(); }

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

constexpr char kUsage[] =
    "usage: tkdc-agent --config FILE [--check-config]\n"
    "       tkdc-agent --version\n";

int usage() {
  std::cerr << kUsage;
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::string config_path;
  bool check_only = false;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--version") {
      std::cout << "tkdc-agent " << tkdc::kVersionAndCommit << "\n";
      return 0;
    }
    if (argument == "--help") {
      std::cout << kUsage;
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

  tkdc::forbid_dumps();  // the agent sees plaintexts
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
