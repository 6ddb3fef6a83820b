// SPDX-License-Identifier: Apache-2.0
// tkdc-server's configuration, tkdc.toml, as checked values. Every key is
// documented in config/tkdc.toml. Holds no secrets, only the names of the
// files that do; paths are already resolved.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "job/engine.h"
#include "net/certificate.h"

namespace tkdc {

struct AgentEntry {
  std::string name;
  AgentRole role = AgentRole::kKdc;
  std::string curve_public_key;  // Z85
};

struct PeerEntry {
  int party = 0;
  std::string address;  // host:port
  Fingerprint certificate_sha256{};
};

struct ServerConfig {
  std::string path;  // of the file

  InstallationId installation{};
  int party = 0;
  std::string security = "semi-honest";

  std::string control_listen;  // a ZeroMQ endpoint: tcp://host:port
  std::string curve_secret_key_file;
  std::vector<AgentEntry> agents;

  std::string data_listen;  // host:port
  int lanes = 2;
  std::string certificate_file;
  std::string private_key_file;
  std::string backend = "auto";
  std::vector<PeerEntry> peers;  // the other two, by party

  std::string store_path;
  std::string store_key_file;
  std::size_t store_map_bytes = std::size_t{16} << 30;

  std::string audit_file;
};

// Error: file, line, key and what is expected there.
Result<ServerConfig> load_server_config(const std::string& path);

}  // namespace tkdc
