// SPDX-License-Identifier: Apache-2.0
// tkdc-server's configuration, tkdc.toml, as checked values. Every key is
// documented in config/tkdc.toml. Holds no secrets, only the names of the
// files that do; paths are already resolved.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "link/certificate.h"
#include "service/export/approval.h"
#include "service/garbled/garbling_options.h"
#include "service/job/job_service.h"
#include "service/server/audit_log.h"
#include "session/epoch_ledger.h"

namespace tkdc {

// An agent that changes its key has two of them, with one name.
struct AgentEntry {
  std::string name;
  AgentRole role = AgentRole::kKdc;
  std::string curve_public_key;  // Z85
  std::string host = "";         // for `tkdc unit`; the server goes by the key
};

struct PeerEntry {
  int party = 0;
  std::string address;  // host:port
  PeerPin certificate;
  std::string key = "";  // of its address, as ServerConfig::lines has it
};

struct ServerConfig {
  std::string path;  // of the file
  // Where in it stands what is looked for outside of it: "store.path", "peers[0].address".
  std::map<std::string, int> lines;

  InstallationId installation{};
  int parties = 3;  // or 2 (docs/protocols/26-two-server-keys.md)
  int party = 0;
  Security security = Security::kMalicious;

  std::string control_listen;  // a ZeroMQ endpoint: tcp://host:port
  std::string curve_secret_key_file;
  std::string status_socket;  // for monitoring, answers the status alone; empty: none
  std::vector<AgentEntry> agents;
  std::vector<Approver> approvers;  // of exports; none: nobody can export

  std::string data_listen;  // host:port
  int lanes = 2;
  std::string certificate_file;
  std::string private_key_file;
  std::vector<std::string> protocols{"rep3"};  // offered; the one that is used most first
  std::string backend = "auto";
  std::string zero_shares = "auto";                          // session/zero_generator.h
  std::size_t masked_blocks = 0;                             // rep3/unit/rep3_offer.h
  bool two_parts = true;                                     // docs/protocols/17-two-part-hmac.md
  GarblingOptions garbling;                                  // docs/protocols/20-three-servers.md
  std::size_t pair_prepared_bytes = std::size_t{384} << 20;  // docs/protocols/27-two-server-jobs.md
  std::size_t pair_tables_bytes = 0;                         // docs/protocols/29-tables-in-jobs.md
  std::chrono::milliseconds pair_tables_wait{50};
  std::vector<int> gpus;  // of the backend "cuda": lanes take them in turn
  bool gpu_allow_shared = false;
  std::size_t gpu_min_cohort_blocks = 0, gpu_min_cohort_compressions = 0;
  std::vector<PeerEntry> peers;  // the others, by party

  std::string store_path;
  std::string store_key_file;
  std::size_t store_map_bytes = std::size_t{16} << 30;
  bool share_macs = false;  // docs/protocols/23-share-macs.md
  // Keys that are removed can be given back for so long; 0: never.
  std::uint32_t keep_dropped_days = 30;

  std::string audit_file;
  AuditRotation audit_rotation;

  RateLimitOptions limits;
  std::uint32_t epochs_per_day = EpochLedger::kPerDay;
  // service/server/broken_checks.h
  std::uint32_t opened_checks_per_day = 3, broken_checks_per_day = 1'000;
};

// Error: file, line, key and what is expected there.
Result<ServerConfig> load_server_config(const std::string& path);

// Members of whom a former key is still taken: "server1", an agent's name.
std::vector<std::string> former_keys(const ServerConfig& config);

}  // namespace tkdc
