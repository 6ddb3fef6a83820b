// SPDX-License-Identifier: Apache-2.0
// tkdc bench pair, between two processes: a session, one AES-128 block under a key alone, then as
// many as are asked for, by batches of 2^18 ANDs. The garbler has keys and blocks, the evaluator's
// shares are 0; the garbler compares each block with OpenSSL's.
#pragma once

#include "tools/bench/stream_pair.h"

namespace tkdc::bench {

struct PairRun {
  Transport transport = Transport::kTls;
  unsigned k = 4;
  std::size_t blocks = 1024;
};

// Wall time of the garbler's process; CPU time and octets of both.
struct PhaseFigures {
  double wall_s = 0, cpu_s = 0;
  std::uint64_t octets = 0;
};

struct PairReport {
  std::uint64_t ands = 0;  // of a block
  PhaseFigures setup;
  PhaseFigures one_independent, one_dependent, one_online;
  std::size_t blocks = 0;
  PhaseFigures independent, dependent, online;  // of all blocks
};

Result<PairReport> measure_pair(const PairRun& run);

}  // namespace tkdc::bench
