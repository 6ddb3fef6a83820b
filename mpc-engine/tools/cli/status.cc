// SPDX-License-Identifier: Apache-2.0
// `tkdc status`: asks an agent how it and the servers are, or a server of this host how it is
// itself.
//
// Exit status: 0 healthy, 2 degraded, 1 nobody answered. What it shows comes from the document
// that was answered; nothing in it is secret.
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "base/result.h"
#include "base/strict_toml.h"
#include "tools/cli/ask_agent.h"
#include "tools/cli/ask_status.h"
#include "tools/cli/commands.h"
#include "tools/cli/spare.h"
#include "tools/cli/status_table.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;

struct StatusOptions {
  StatusPlaceOptions place;
  bool json = false;
  unsigned watch_s = 0;
};

std::string role_of(const std::string& config) {
  StrictToml file;
  return file.load(config).ok() ? file.table("agent").text("role", "") : "";
}

// How another agent of this host is: an administrator asks one, and is told of all.
json other_agent(const std::string& config, const std::string& socket) {
  const std::string name = std::filesystem::path(config).parent_path().filename().string();
  json out = {{"name", name}, {"socket", socket}, {"reachable", false}};
  auto text = ask_agent(socket);
  if (!text && role_of(config) == "admin" && is_of_a_spare(name)) {
    out["spare"] = true;
    return out;
  }
  if (!text) {
    out["trouble"] = text.error().message;
    return out;
  }
  const json document = json::parse(*text, nullptr, false);
  out["reachable"] = document.is_object();
  if (document.is_object() && !is_healthy(document)) {
    out["trouble"] = "it does not see all servers in session";
    for (const json& server : document.value("servers", json::array()))
      if (server.is_object() && server.contains("trouble") && server["trouble"].is_string())
        out["trouble"] = "server " + server.value("party", json()).dump() + ": " +
                         server["trouble"].get<std::string>();
  }
  if (!document.is_object()) return out;
  const json agent = document.value("agent", json::object());
  out["role"] = agent.value("role", "");
  if (agent.contains("former_keys_warning"))
    out["former_keys_warning"] = agent["former_keys_warning"];
  return out;
}

// Those whose agent.toml stands beside the one that was asked, as `tkdc init` and the packages have
// it. What this user may not read is left out.
json other_agents(const StatusOptions& options, const std::string& asked) {
  namespace fs = std::filesystem;
  json out = json::array();
  if (!options.place.socket.empty()) return out;
  std::error_code error;
  const fs::path folder =
      options.place.config.empty()
          ? fs::path("/etc/tkdc")
          : fs::absolute(options.place.config, error).parent_path().parent_path();
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string config = (entry.path() / "agent.toml").string();
    if (::access(config.c_str(), R_OK) != 0) continue;
    const auto socket = socket_of(config);
    if (socket.ok() && *socket != asked) out.push_back(other_agent(config, *socket));
  }
  return out;
}

int run_status(const StatusOptions& options) {
  auto report = [&options](const std::string& message) {
    std::cerr << "tkdc status: " << message << "\n";
    const json told = {{"healthy", false}, {"error", message}};
    if (options.json) std::cout << told.dump(2, ' ', true, json::error_handler_t::replace) << "\n";
    return 1;
  };
  auto place = status_place(options.place);
  if (!place) return report(place.error().message);
  auto said = ask_status(*place);
  if (!said) return report(said.error().message);
  json document = std::move(*said);
  if (!place->of_server)
    if (json others = other_agents(options, place->socket); !others.empty())
      document["other_agents"] = std::move(others);
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
  while (std::cout) {
    if (::isatty(STDOUT_FILENO) != 0) std::cout << kClear;
    run_status(options);
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
  constexpr unsigned kLongest = 3600;
  command->add_option("--watch", options->watch_s, "ask again after so many seconds, until Ctrl-C")
      ->check(CLI::Range(1u, kLongest));
  command->callback([options, &exit_status] {
    exit_status = options->watch_s > 0 ? watch_status(*options) : run_status(*options);
  });
}

}  // namespace tkdc::cli
