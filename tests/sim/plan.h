// SPDX-License-Identifier: Apache-2.0
// What a run does, decided before it begins: the shape of the realm, of its network, of its load,
// and each fault with its time. A seed makes one; a file holds one, to be replayed when seeds mean
// something else (docs/testing.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tkdc::sim {

struct Fault {
  std::int64_t at_ms = 0;
  std::string kind;
  std::int64_t a = 0, b = 0, c = 0;  // as the kind says: faults.cc
  bool operator==(const Fault&) const = default;
};

// Of a lying agent, or a two-faced server: one job, or message, in so many; and, times that, which
// lies (lying_agent.h, deceits.h).
inline constexpr std::int64_t kLiesOfKind = 100;

inline constexpr const char* kPairPlain = "pair-plain";
inline constexpr const char* kGarbled = "garbled";

struct Plan {
  std::uint64_t seed = 0;
  std::uint64_t keys = 0;  // which keys and plaintexts
  std::string protocol = "plaintext";
  std::string security = "malicious";
  std::string backend = "scalar";
  int lanes = 2;
  std::int64_t minutes = 2;
  std::int64_t latency_us = 300, jitter_us = 200;
  std::int64_t clients = 4, pause_ms = 2'000;  // of the load
  std::int64_t record_limit = 0;               // of a server's map, in entries; 0: none
  bool macs = false;                           // shares have MACs: audits, refreshes
  std::int64_t kdcs = 1;                       // KDCs, each with its agent: 1 or 2
  std::int64_t pool_blocks = 0;                // of two servers' pools
  // Of three that garble: data.garbling, data.garbled_instances, data.garbled_mb.
  std::string garbling = "always";
  std::int64_t instances = 2, garbled_mb = 128;
  std::vector<Fault> faults;

  // Two servers with their own protocol, "pair", or with plaintext in its place (pair_steps.h).
  bool of_two() const { return protocol.starts_with("pair"); }
  // Three, by replicated sharing and garbled circuits.
  bool garbles() const { return protocol == kGarbled; }
  bool shares() const { return protocol == "rep3" || garbles(); }
  // Each circuit is laid out once, which costs more than a run: lengths and enctypes are few.
  bool has_few_circuits() const { return of_two() || garbles(); }
};

// Of that protocol; empty: of the seed's.
Plan plan_of(std::uint64_t seed, const std::string& protocol = {});

std::string encode(const Plan& plan);
Result<Plan> decode_plan(const std::string& text);

}  // namespace tkdc::sim
