// SPDX-License-Identifier: Apache-2.0
// tkdc-agent: see tkdc-agent(8).
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "agent/agent.h"
#include "agent/log.h"
#include "base/credential.h"
#include "base/daemon_options.h"
#include "base/hardening.h"

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

}  // namespace

int main(int argc, char** argv) {
  int exit_status = 0;
  const auto options = tkdc::daemon_options(argc, argv, "tkdc-agent",
                                            "asks the servers for the programs on a KDC's host",
                                            "/etc/tkdc/agent-kdc/agent.toml", exit_status);
  if (!options) return exit_status;

  tkdc::forbid_dumps();  // the agent sees plaintexts
  raise_file_limit();
  ::umask(077);
  if (sodium_init() < 0) {
    tkdc::agent::log(Level::kError, "libsodium cannot start: the system has no random generator");
    return 1;
  }
  auto config = tkdc::agent::load_config(options->config, options->check_only);
  if (!config) {
    tkdc::agent::log(Level::kError, config.error().message);
    return 1;
  }
  if (options->check_only) {
    auto remark = tkdc::agent::check_surroundings(*config);
    if (!remark) {
      tkdc::agent::log(Level::kError, remark.error().message);
      return 1;
    }
    std::cout << options->config << ": good" << (remark->empty() ? "" : "; ") << *remark;
    if (const auto name = tkdc::credential_not_given(config->curve_secret_key_file); !name.empty())
      std::cout << "; " << name << ": a credential, which only the unit gets, was not looked at";
    std::cout << "\n";
    return 0;
  }
  tkdc::name_process("TKDC_AGENT=" + config->name);
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
