// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/other_agents.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <vector>

#include "base/strict_toml.h"
#include "tools/cli/ask_agent.h"
#include "tools/cli/spare.h"
#include "tools/cli/status_table.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Configured {
  std::string name, role, socket, status_socket, installation;
};

std::string whole(const std::string& path) {
  std::error_code error;
  return fs::absolute(path, error).lexically_normal().string();
}

// What this user may not read is left out.
std::vector<Configured> configured_in(const fs::path& folder) {
  std::vector<Configured> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string config = (entry.path() / "agent.toml").string();
    StrictToml file;
    if (::access(config.c_str(), R_OK) != 0 || !file.load(config).ok()) continue;
    TomlTable agent = file.table("agent");
    Configured one{entry.path().filename().string(), agent.text("role", ""),
                   agent.text("socket", ""), agent.text("status_socket", ""),
                   file.table("installation").text("id", "")};
    if (one.socket.empty()) continue;
    one.socket = whole(file.resolve(one.socket));
    if (!one.status_socket.empty()) one.status_socket = whole(file.resolve(one.status_socket));
    out.push_back(std::move(one));
  }
  std::ranges::sort(out, {}, &Configured::name);
  return out;
}

bool has_socket(const Configured& one, const std::string& socket) {
  return one.socket == socket || one.status_socket == socket;
}

void tell_of_servers(json& out, const json& document) {
  if (is_healthy(document)) return;
  out["trouble"] = "it does not see all servers in session";
  for (const json& server : document.value("servers", json::array()))
    if (server.is_object() && server.contains("trouble") && server["trouble"].is_string())
      out["trouble"] = "server " + server.value("party", json()).dump() + ": " +
                       server["trouble"].get<std::string>();
}

json asked_at(const std::string& name, const std::string& socket) {
  json out = {{"name", name}, {"socket", socket}, {"reachable", false}};
  auto text = ask_agent(socket);
  if (!text) {
    out["trouble"] = text.error().message;
    return out;
  }
  const json document = json::parse(*text, nullptr, false);
  if (!document.is_object()) {
    out["trouble"] = "its answer is not JSON";
    return out;
  }
  out["reachable"] = true;
  tell_of_servers(out, document);
  const auto at = document.find("agent");
  const json agent = at != document.end() && at->is_object() ? *at : json::object();
  const auto role = agent.find("role");
  out["role"] = role != agent.end() && role->is_string() ? role->get<std::string>() : "";
  out["installation"] = document.value("installation", json());
  if (agent.contains("former_keys_warning"))
    out["former_keys_warning"] = agent["former_keys_warning"];
  return out;
}

json by_configuration(const Configured& one, const std::string& units) {
  const bool barred = ::access(one.socket.c_str(), W_OK) != 0 && errno == EACCES;
  json out =
      asked_at(one.name, barred && !one.status_socket.empty() ? one.status_socket : one.socket);
  if (out["reachable"] == false && one.role == "admin" && is_of_a_spare(one.name, units)) {
    out.erase("trouble");
    out["spare"] = true;
  }
  return out;
}

// Of the one in whose folder, or by whose name, a socket of the packages' is.
std::optional<std::string> name_of(const fs::path& socket, const fs::path& sockets) {
  if (socket.parent_path() == sockets / "status") return socket.stem().string();
  if (socket.parent_path().parent_path() == sockets)
    return socket.parent_path().filename().string();
  return std::nullopt;
}

json by_unit(const std::string& name, const AgentPlaces& places) {
  std::error_code error;
  const fs::path socket = fs::path(places.sockets) / "status" / (name + ".sock");
  if (fs::exists(socket, error)) return asked_at(name, socket.string());
  json out = {{"name", name}, {"socket", socket.string()}, {"reachable", false}};
  if (!fs::is_directory(fs::path(places.sockets) / name, error)) {
    out["trouble"] = "it does not run: systemctl status tkdc-agent@" + name;
    return out;
  }
  out["running"] = true;
  out["warning"] =
      "its unit runs, and nobody sees here whether it answers: agent.status_socket in its "
      "agent.toml would be " +
      socket.string();
  return out;
}

// All at once: one that hangs takes its whole time, and no more than all of them.
class Asking {
 public:
  void begin(std::function<json()> ask) {
    asked_.push_back(std::async(std::launch::async, std::move(ask)));
  }
  json end() {
    json out = json::array();
    for (std::future<json>& one : asked_) out.push_back(one.get());
    return out;
  }

 private:
  std::vector<std::future<json>> asked_;
};

bool is_elsewhere(const json& agent, const json& document) {
  const auto own = document.find("installation"), its = agent.find("installation");
  return own != document.end() && own->is_string() && its != agent.end() && its->is_string() &&
         *own != *its;
}

}  // namespace

json other_agents(const std::string& asked, const std::string& config, const AgentPlaces& places) {
  Asking asking;
  const std::string socket = whole(asked);
  const fs::path own =
      config.empty() ? fs::path(socket).parent_path() : fs::path(whole(config)).parent_path();
  for (const fs::path& folder : {fs::path(places.configs), own.parent_path()}) {
    const auto all = configured_in(folder);
    const auto is_asked = [&](const Configured& one) { return has_socket(one, socket); };
    const auto own_one = std::ranges::find_if(all, is_asked);
    if (own_one == all.end()) continue;
    for (const Configured& one : all)
      if (!is_asked(one) && one.installation == own_one->installation)
        asking.begin([one, units = places.units] { return by_configuration(one, units); });
    return asking.end();
  }
  if (const auto name = name_of(socket, places.sockets))
    for (const std::string& other : started_instances("tkdc-agent", places.units))
      if (other != *name) asking.begin([other, places] { return by_unit(other, places); });
  return asking.end();
}

Result<json> ask_host(const StatusPlace& place, const std::string& config,
                      const AgentPlaces& places) {
  if (place.of_server) return ask_status(place);
  auto others =
      std::async(std::launch::async, [&] { return other_agents(place.socket, config, places); });
  auto document = ask_status(place);
  json beside = json::array();
  for (json& one : others.get())
    if (!document || !is_elsewhere(one, *document)) beside.push_back(std::move(one));
  if (!document) return document;
  if (!beside.empty()) (*document)["other_agents"] = std::move(beside);
  return document;
}

}  // namespace tkdc::cli
