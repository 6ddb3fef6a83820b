// SPDX-License-Identifier: Apache-2.0
#include "agent/config.h"

#include <grp.h>
#include <sys/un.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "base/credential.h"
#include "base/curve_key.h"
#include "base/hex.h"
#include "base/secret_file.h"
#include "base/strict_toml.h"

namespace tkdc::agent {
namespace {

constexpr std::size_t kLeastServers = 2, kMostServers = 3;

void read_installation(StrictToml& file, AgentConfig& config) {
  TomlTable table = file.table("installation");
  if (!from_hex(table.text("id"), config.installation))
    table.reject("id", "must be 32 hexadecimal digits, the same as in the servers' tkdc.toml");
  // Written by `tkdc init` for the servers; the agent says it in HELLO.
  config.security = table.choice("security", {"malicious", "semi-honest"}, "malicious");
}

// Resolved; one that is too long is rejected.
std::string socket_path(const StrictToml& file, TomlTable& table, const char* key,
                        const std::string& text) {
  std::string path = file.resolve(text);
  if (path.size() >= sizeof(sockaddr_un{}.sun_path))
    table.reject(key, "is longer than a Unix socket's path may be: " + path);
  return path;
}

void read_agent(StrictToml& file, AgentConfig& config) {
  TomlTable table = file.table("agent");
  config.name = table.text("name");
  if (config.name.empty()) table.reject("name", "must not be empty");
  config.role = table.choice("role", {"kdc", "admin"}) == "kdc" ? TKDC_ROLE_KDC : TKDC_ROLE_ADMIN;
  const std::string socket = table.text("socket");
  if (socket.empty()) table.reject("socket", "must not be empty");
  config.socket_path = socket_path(file, table, "socket", socket);
  config.socket_group = table.text("socket_group", "");
  const std::string status = table.text("status_socket", "");
  if (!status.empty())
    config.status_socket_path = socket_path(file, table, "status_socket", status);
  if (!status.empty() && config.status_socket_path == config.socket_path)
    table.reject("status_socket",
                 "is agent.socket too: who may look would be who may ask for keys");
  config.status_group = table.text("status_group", "");
  if (status.empty() && !config.status_group.empty())
    table.reject("status_group", "says who may use agent.status_socket, which is not set");
  const std::string log = table.text("operations_log", "");
  if (!log.empty()) config.operations_log = file.resolve(log);
  config.max_pending = static_cast<std::size_t>(table.integer(
      "max_pending", 1, kMaxPendingCeiling, static_cast<std::int64_t>(config.max_pending)));
  config.protocol = table.text("protocol", "");
  if (config.protocol.size() > kMaxProtocolBytes)
    table.reject("protocol", "is longer than a protocol's name may be (32)");
  config.request_ids = table.boolean("request_ids", false);
  config.curve_secret_key_file = file.resolve(table.text("curve_secret_key_file"));
}

// tcp://host:port, an IPv6 host in brackets. ZeroMQ would connect to nothing, and say nothing.
bool is_server_address(const std::string& text) {
  constexpr std::string_view kScheme = "tcp://";
  const std::size_t colon = text.rfind(':');
  if (!text.starts_with(kScheme) || colon <= kScheme.size()) return false;
  const std::string host = text.substr(kScheme.size(), colon - kScheme.size());
  const std::string port = text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  constexpr std::size_t kMostDigits = 5;
  constexpr int kMostPort = 65'535;
  return (bracketed || host.find_first_of(":[]/") == std::string::npos) && !port.empty() &&
         port.size() <= kMostDigits && port.find_first_not_of("0123456789") == std::string::npos &&
         std::stoi(port) > 0 && std::stoi(port) <= kMostPort;
}

// What is not read yet, or not there, is empty.
bool share_a_key(const ServerAddress& a, const ServerAddress& b) {
  for (const std::string& one : {a.curve_public_key, a.former_curve_public_key})
    if (!one.empty() && (one == b.curve_public_key || one == b.former_curve_public_key))
      return true;
  return false;
}

void read_servers(StrictToml& file, AgentConfig& config) {
  bool seen[kMostServers] = {};
  std::size_t place = 0;
  for (TomlTable& table : file.tables("servers")) {
    const auto party = static_cast<std::size_t>(table.integer("party", 0, kMostServers - 1));
    if (seen[party]) table.reject("party", "stands twice: each of 0, 1 and 2 once");
    seen[party] = true;
    config.servers.resize(std::max(config.servers.size(), party + 1));
    ServerAddress& server = config.servers[party];
    server.address = table.text("address");
    server.key = "servers[" + std::to_string(place++) + "].address";
    server.line = table.line("address");
    if (!is_server_address(server.address))
      table.reject("address", "must be of the form \"tcp://host:port\"");
    server.curve_public_key = table.text("curve_public_key");
    if (!is_curve_key(server.curve_public_key))
      table.reject("curve_public_key", "must be a CURVE public key, 40 characters of Z85");
    const std::string& former = server.former_curve_public_key =
        table.text("former_curve_public_key", "");
    if (!former.empty() && !is_curve_key(former))
      table.reject("former_curve_public_key", "must be a CURVE public key, 40 characters of Z85");
    for (const ServerAddress& other : config.servers) {
      if (&other == &server) continue;
      if (share_a_key(other, server))
        table.reject("curve_public_key", "is another of the [[servers]]' too: each has its own");
      if (other.address == server.address)
        table.reject("address", "is another of the [[servers]]' too: each has its own");
    }
  }
}

bool all_named(const std::vector<ServerAddress>& servers) {
  return servers.size() >= kLeastServers &&
         std::none_of(servers.begin(), servers.end(),
                      [](const ServerAddress& server) { return server.address.empty(); });
}

// systemd makes these for the unit: RuntimeDirectory= and StateDirectory= of its file.
bool is_made_by_systemd(const std::filesystem::path& folder) {
  return folder.parent_path() == "/run/tkdc" || folder.parent_path() == "/var/lib/tkdc";
}

Result<std::string> check_hosts(const AgentConfig& config, const LookUp& look) {
  std::vector<NamedHost> hosts;
  std::map<std::string, int> lines;
  for (const ServerAddress& server : config.servers) {
    hosts.push_back({server.key, host_of(server.address)});
    lines[server.key] = server.line;
  }
  const auto wrong = [&](const std::string& key, const std::string& why) {
    return fail("config: " + config.path + ": '" + key + "': " + why + " (line " +
                std::to_string(lines[key]) + ")");
  };
  return check_names(hosts, wrong, "an agent that starts now does not reach that server", look);
}

}  // namespace

Result<std::string> check_surroundings(const AgentConfig& config, const LookUp& look) {
  for (const auto& [key, group] : {std::pair("socket_group", config.socket_group),
                                   std::pair("status_group", config.status_group)})
    if (!group.empty() && ::getgrnam(group.c_str()) == nullptr)
      return fail("config: 'agent." + std::string(key) + "': there is no group " + group +
                  "; make it, with those in it who may ask this agent");
  std::string remark;
  for (const auto& [key, path] : {std::pair("agent.socket", config.socket_path),
                                  std::pair("agent.status_socket", config.status_socket_path),
                                  std::pair("agent.operations_log", config.operations_log)}) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (path.empty() || std::filesystem::is_directory(folder, error)) continue;
    if (std::filesystem::exists(folder, error) || !is_made_by_systemd(folder))
      return fail("config: '" + std::string(key) + "': there is no folder " + folder.string() +
                  "; make it, for this service's user");
    remark += (remark.empty() ? "" : ", ") + folder.string();
  }
  if (!remark.empty()) remark += " will be made by systemd when the unit starts";
  auto hosts = check_hosts(config, look);
  if (!hosts.ok()) return hosts.error();
  return remark + (remark.empty() || hosts->empty() ? "" : "; ") + *hosts;
}

std::vector<std::string> former_keys(const AgentConfig& config) {
  std::vector<std::string> out;
  for (std::size_t party = 0; party < config.servers.size(); ++party)
    if (!config.servers[party].former_curve_public_key.empty())
      out.push_back("server" + std::to_string(party));
  return out;
}

Result<AgentConfig> load_config(const std::string& path, bool without_credentials) {
  StrictToml file;
  if (auto loaded = file.load(path); !loaded) return loaded.error();
  AgentConfig config;
  config.path = path;
  read_installation(file, config);
  read_agent(file, config);
  read_servers(file, config);
  if (auto done = file.finish(); !done) return done.error();
  if (!all_named(config.servers))
    return fail("config: " + path +
                ": [[servers]] must stand three times, for parties 0, 1, 2, or "
                "twice, for 0 and 1, where the realm is on two servers");
  if (without_credentials && !credential_not_given(config.curve_secret_key_file).empty())
    return config;
  auto key = read_curve_secret(config.curve_secret_key_file);
  if (!key.ok()) return key.error();
  std::copy(key->begin(), key->end(), config.curve_secret_key.data());
  return config;
}

}  // namespace tkdc::agent
