// SPDX-License-Identifier: Apache-2.0
// `tkdc status`: asks an agent how it and the servers are, or a server of this host how it is
// itself.
//
// Exit status: 0 healthy, 2 degraded, 1 nobody answered. What it shows comes from the document
// that was answered; nothing in it is secret.
#include <unistd.h>

#include <iostream>
#include <memory>
#include <thread>

#include "base/result.h"
#include "tools/cli/ask_status.h"
#include "tools/cli/commands.h"
#include "tools/cli/krbtgt.h"
#include "tools/cli/other_agents.h"
#include "tools/cli/status_table.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;

struct StatusOptions {
  StatusPlaceOptions place;
  bool json = false, alone = false, no_database = false;
  unsigned watch_s = 0;
};

int run_status(const StatusOptions& options, KrbtgtLook& krbtgt) {
  auto report = [&options](const std::string& message) {
    std::cerr << "tkdc status: " << message << "\n";
    const json told = {{"healthy", false}, {"error", message}};
    if (options.json) std::cout << told.dump(2, ' ', true, json::error_handler_t::replace) << "\n";
    return 1;
  };
  auto place = status_place(options.place);
  if (!place) return report(place.error().message);
  auto said = options.alone ? ask_status(*place) : ask_host(*place, options.place.config);
  if (!said) return report(said.error().message);
  json document = std::move(*said);
  if (!place->of_server && !options.no_database) krbtgt.at(document);
  if (options.json) {
    document["security_meaning"] =
        security_meaning(document.value("security", ""), parties_of(document));
    document["healthy"] = is_healthy(document);
    document["spare"] = is_spare(document);
    std::cout << document.dump(2, ' ', true, json::error_handler_t::replace) << "\n";
  } else {
    std::cout << status_table(document);
  }
  return is_healthy(document) ? 0 : 2;
}

// Until it is interrupted, or nobody reads it.
int watch_status(const StatusOptions& options) {
  constexpr const char* kClear = "\033[H\033[2J";
  KrbtgtLook krbtgt;
  while (std::cout) {
    if (::isatty(STDOUT_FILENO) != 0) std::cout << kClear;
    run_status(options, krbtgt);
    std::cout.flush();
    std::this_thread::sleep_for(std::chrono::seconds(options.watch_s));
  }
  return 1;
}

}  // namespace

void add_status(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command = app.add_subcommand("status", "show how the agent and the servers are");
  options->place.add_to(*command);
  command->add_flag("--json", options->json, "the whole document instead of the table");
  command->add_flag("--alone", options->alone, "not this host's other agents");
  command->add_flag("--no-database", options->no_database,
                    "not whether the servers hold krbtgt's key of this host's database");
  constexpr unsigned kLongest = 3600;
  command->add_option("--watch", options->watch_s, "ask again after so many seconds, until Ctrl-C")
      ->check(CLI::Range(1u, kLongest));
  command->callback([options, &exit_status] {
    KrbtgtLook krbtgt;
    exit_status = options->watch_s > 0 ? watch_status(*options) : run_status(*options, krbtgt);
  });
}

}  // namespace tkdc::cli
