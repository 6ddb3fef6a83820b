// SPDX-License-Identifier: Apache-2.0
// tkdc bench pair, between two processes over TLS: a session; a pool in a session of its own; a
// record out of it, bridged; then jobs, each ahead and then online, with message and pad of an
// agent that this process plays. What the agent takes is compared with the circuit in the clear.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "pair/online.h"
#include "tools/bench/stream_pair.h"

namespace tkdc::bench {

struct PairRun {
  std::string operation;  // a circuit of the catalogue; inputs that are keys are stored
  std::size_t jobs = 1;
  std::size_t pool_blocks = 4096;
};

struct PairPhase {
  double wall_ms = 0, cpu_ms = 0;  // the longer of both processes; both together
  double octets = 0;               // both directions
};

struct PairFigures {
  std::uint64_t ands = 0;
  std::size_t record_bits = 0, dealt_bytes = 0;  // to each server
  PairPhase setup, pool, bridge;
  PairPhase ahead, online;  // of a job
  double latency_ms = 0;    // the median online
};

Result<PairFigures> measure_pair(const PairRun& run);

}  // namespace tkdc::bench
