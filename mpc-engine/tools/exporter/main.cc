// SPDX-License-Identifier: Apache-2.0
// tkdc-exporter: an agent's status, or that of a server on its own host, as metrics for Prometheus;
// beside an agent's also whether the host's other agents answer.
// It may ask for the status and for nothing else, by agent.status_socket or control.status_socket;
// it holds no key and no share.
#include <signal.h>
#include <systemd/sd-daemon.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "base/version.h"
#include "tools/cli/other_agents.h"
#include "tools/exporter/web.h"

namespace {

constexpr const char* kSocket = "/run/tkdc/status/agent-kdc.sock";
constexpr const char* kListen = "127.0.0.1:9747";

int serve(const tkdc::cli::StatusPlace& place, const std::string& listen) {
  // Before there are threads, so that none takes them; CivetServer's writes meet peers that left.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  signal(SIGPIPE, SIG_IGN);
  tkdc::exporter::StatusSource source([&place] { return tkdc::cli::ask_host(place); },
                                      place.of_server);
  const auto web = tkdc::exporter::Web::open(listen, source);
  if (!web.ok()) {
    std::cerr << "tkdc-exporter: " << web.error().message << "\n";
    return 1;
  }
  std::cerr << "tkdc-exporter: http://" << listen << "/metrics, of " << place.socket << "\n";
  sd_notify(0, "READY=1");
  int number = 0;
  sigwait(&ends, &number);
  sd_notify(0, "STOPPING=1");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("an agent's or a server's status as metrics for Prometheus", "tkdc-exporter");
  app.set_version_flag("--version", std::string("tkdc-exporter ") + tkdc::kVersionAndCommit);
  std::string socket = kSocket, server, listen = kListen;
  CLI::Option* agent =
      app.add_option("--socket", socket, "an agent's agent.status_socket")->capture_default_str();
  app.add_option("--server-socket", server, "a server's control.status_socket instead")
      ->excludes(agent);
  app.add_option("--listen", listen, "a port of this host's loopback")->capture_default_str();
  app.footer(
      "Example: a server's host\n"
      "  tkdc-exporter --server-socket /run/tkdc/status-server/server0.sock");
  CLI11_PARSE(app, argc, argv);
  const bool of_server = !server.empty();
  return serve({of_server ? server : socket, of_server}, listen);
}
