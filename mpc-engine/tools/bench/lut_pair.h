// SPDX-License-Identifier: Apache-2.0
// tkdc bench lut, between two processes or more: in each of some threads sessions of its own;
// blocks by the batch, ahead and then online; then single blocks. Of each batch the first and last
// block are compared with OpenSSL. SIGINT or SIGTERM ends it behind a batch, with figures of those
// that are finished; single blocks are left out then.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/bench/lut_modes.h"
#include "tools/bench/stream_pair.h"

namespace tkdc::bench {

struct LutRun {
  LutModeInfo mode;
  std::size_t parties = 2;
  std::size_t threads = 1;
  std::size_t blocks = 0;      // of each thread
  std::size_t batch = 0;       // of them together
  std::size_t unexpanded = 0;  // others, of each thread, by tables that are not expanded
  std::size_t singles = 0;     // one by one, by the first thread
  bool progress = false;       // to stderr
};

struct LutFigures {
  std::size_t blocks = 0;  // of all threads; fewer than wanted where it was asked to stop
  double setup_ms = 0;
  double ahead_per_s = 0, online_per_s = 0, unexpanded_per_s = 0;
  double ahead_cpu_us = 0, online_cpu_us = 0;  // a block, all processes with their threads
  double ahead_octets = 0, online_octets = 0;  // a block, all directions
  double kept_octets = 0;                      // a block, all parties
  double latency_ms = 0;                       // the median of single blocks
};

Result<LutFigures> measure_lut(const LutRun& run);

}  // namespace tkdc::bench
