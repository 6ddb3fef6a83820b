// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/ask_status.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/strict_toml.h"
#include "service/server/config.h"
#include "service/server/local_socket.h"
#include "tools/cli/ask_agent.h"
#include "wire.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;

constexpr long long kAnswerMs = 5'000;
constexpr int kMaxDepth = 8;

bool is_of_a_server(const std::string& config) {
  StrictToml file;
  return file.load(config).ok() && !file.table("store").text("path", "").empty();
}

// Its administrator's, else the one for monitoring.
Result<StatusPlace> place_of_server(const std::string& config) {
  auto server = load_server_config(config);
  if (!server) return server.error();
  const std::string local = local_socket_path(server->store_path);
  if (::access(local.c_str(), W_OK) == 0 || server->status_socket.empty())
    return StatusPlace{local, true};
  return StatusPlace{server->status_socket, true};
}

Result<json> ask_a_server(const std::string& socket) {
  LocalAsk ask;
  ask.op = LocalOp::kStatus;
  auto said = ask_server(socket, ask, kAnswerMs);
  if (!said) return said.error();
  // No status is as deep; each level takes stack when it is written out.
  const auto keep = [](int depth, json::parse_event_t, json&) { return depth <= kMaxDepth; };
  json server = json::parse(said->begin(), said->end(), keep, false);
  if (!server.is_object()) return fail(socket + ": the server's answer is not JSON");
  server["reachable"] = true;
  json document = {{"security", server.value("security", json("unknown"))},
                   {"installation", server.value("installation", json())},
                   {"of_server", server.value("party", json())}};
  document["servers"].push_back(std::move(server));
  return document;
}

}  // namespace

void StatusPlaceOptions::add_to(CLI::App& command) {
  CLI::Option* agent = command.add_option(
      "--socket", socket, std::string("an agent's socket; default ") + TKDC_KDC_SOCKET);
  CLI::Option* server = command.add_option(
      "--server-socket", server_socket, "a server's control.status_socket, on that server's host");
  CLI::Option* file = command.add_option(
      "--config", config, "an agent.toml, or a server's tkdc.toml, that names the socket");
  agent->excludes(server);
  file->excludes(agent)->excludes(server);
}

std::vector<std::string> configs_in(const std::string& folder, const std::string& file) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (fs::exists(entry.path() / file, error)) out.push_back((entry.path() / file).string());
  std::ranges::sort(out);
  return out;
}

Result<std::string> server_config(const std::string& named, const std::string& folder) {
  if (!named.empty()) return named;
  const auto found = configs_in(folder, "tkdc.toml");
  if (found.size() == 1) return found[0];
  return fail("name the server's tkdc.toml by --config: this account sees " +
              std::to_string(found.size()) + " in the folders of " + folder);
}

Result<StatusPlace> status_place(const StatusPlaceOptions& options) {
  if (!options.server_socket.empty()) return StatusPlace{options.server_socket, true};
  if (!options.socket.empty()) return StatusPlace{options.socket, false};
  if (options.config.empty()) return StatusPlace{TKDC_KDC_SOCKET, false, true};
  if (is_of_a_server(options.config)) return place_of_server(options.config);
  auto named = socket_of(options.config);
  if (!named) return named.error();
  return StatusPlace{*named, false};
}

Result<json> ask_status(const StatusPlace& place) {
  if (place.of_server) return ask_a_server(place.socket);
  auto text = ask_agent(place.socket);
  if (!text) {
    std::string why = text.error().message;
    if (why.find(place.socket) == std::string::npos) why = place.socket + ": " + why;
    // A server's host has no agent, and nobody named one.
    if (place.is_usual && ::access(place.socket.c_str(), F_OK) != 0 && errno == ENOENT)
      why +=
          "; on a server's host without an agent: --config /etc/tkdc/NAME/tkdc.toml, or "
          "--server-socket FILE";
    return fail(why);
  }
  json document = json::parse(*text, nullptr, false);
  if (!document.is_object()) return fail(place.socket + ": the agent's answer is not JSON");
  return document;
}

}  // namespace tkdc::cli
