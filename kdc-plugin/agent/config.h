// SPDX-License-Identifier: Apache-2.0
// agent.toml: what an agent is called, where it listens, whom it talks to.
//
// The agent's CURVE secret key is read here and is the only secret in an
// AgentConfig. Every error names the file, the line and the key.
#pragma once

#include <string>
#include <vector>

#include "base/curve_key.h"
#include "base/host_names.h"
#include "base/result.h"
#include "base/secret.h"
#include "service/wire/message.h"

namespace tkdc::agent {

inline constexpr std::size_t kMaxPendingCeiling = 1u << 20;

struct ServerAddress {
  std::string address;                       // "tcp://host:port", as ZeroMQ wants it
  std::string curve_public_key;              // Z85
  std::string former_curve_public_key = "";  // while the server changes it: taken, too
  std::string key = "";                      // of its address in the file
  int line = 0;
};

struct AgentConfig {
  std::string path;  // of the file
  InstallationId installation{};
  std::string security = "malicious";  // of the servers
  std::string name;
  tkdc_wire_role role = TKDC_ROLE_KDC;
  std::string socket_path;
  std::string socket_group;        // empty: the socket belongs to the agent's user alone
  std::string status_socket_path;  // empty: none; who connects there may ask for the status alone
  std::string status_group;
  std::string operations_log;  // empty: none
  std::size_t max_pending = 8192;
  std::string protocol;      // asked of the servers; empty: as they choose
  bool request_ids = false;  // told to the servers, which all have to know them
  std::string curve_secret_key_file;
  SecretBuffer curve_secret_key{kCurveTextBytes + 1};  // Z85 text with its NUL
  std::vector<ServerAddress> servers;                  // by party: three, or two
};

// `without_credentials`: a key that only the unit gets is not read.
Result<AgentConfig> load_config(const std::string& path, bool without_credentials = false);
// Servers of which a former key is still taken: "server1".
std::vector<std::string> former_keys(const AgentConfig& config);
// Whether what it names besides is there: the group, folders, the servers' hosts. A remark where
// systemd makes them, or a server's host has no address (yet: base/host_names.h).
Result<std::string> check_surroundings(const AgentConfig& config, const LookUp& look = look_up);

}  // namespace tkdc::agent
