// SPDX-License-Identifier: Apache-2.0
// What a server meets of the world: its store, its peers, its agents, its administrator, the key
// files. real_surroundings() has what the configuration says; tests/sim has others
// (docs/adr/0029-a-realm-in-a-bottle.md). Secret: the key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/curve_key.h"
#include "link/network.h"
#include "service/server/agent_socket.h"
#include "service/server/config.h"
#include "service/server/local_socket.h"
#include "service/store/store.h"

namespace tkdc {

struct GarblingParts;  // service/garbled/garbling_parts.h
struct PairParts;      // service/pair/pair_parts.h

struct Surroundings {
  std::unique_ptr<Store> store;
  std::shared_ptr<Network> network;
  std::unique_ptr<AgentSocket> agents;
  std::unique_ptr<LocalSocket> local;         // null: nobody can ask for an export here
  std::unique_ptr<LocalSocket> status;        // for monitoring; null: there is none
  SecretBuffer curve_secret{kCurveKeyBytes};  // for parcels of exports
  std::optional<std::int64_t> certificate_end_s;
  std::optional<Fingerprint> certificate;  // this server's own
  std::size_t max_pending_per_agent = kMaxPendingPerAgent;
  // Null: what a server has by itself.
  std::shared_ptr<const PairParts> pair_parts;
  std::shared_ptr<const GarblingParts> garbling_parts;
};

// Opens and binds what agents and administrator reach; peers are not listened to yet.
Result<Surroundings> real_surroundings(const ServerConfig& config);

}  // namespace tkdc
