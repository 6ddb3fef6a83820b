// SPDX-License-Identifier: Apache-2.0
// tkdc bench ot, between two processes: base OTs, trees, then extension for so long. At the end
// both compare some of what they have: rows that do not fit are an error.
#pragma once

#include "ot/extension.h"
#include "tools/bench/stream_pair.h"

namespace tkdc::bench {

enum class OtForm : std::uint8_t { kCorrelated, kRandom };

struct OtRun {
  ot::ExtensionOptions options;
  OtForm form = OtForm::kCorrelated;
  Transport transport = Transport::kTcp;
  std::size_t rows_at_once = std::size_t{1} << 20;
  double seconds = 1;
};

struct OtFigures {
  double ots_per_s = 0;
  // CPU of each process for an OT, the kernel's share for the network included.
  double sender_cpu_ns = 0, receiver_cpu_ns = 0;
  double octets = 0;        // for an OT, both directions
  double setup_ms = 0;      // of base OTs and trees
  double setup_cpu_ms = 0;  // of both processes
  std::uint64_t ots = 0;
};

Result<OtFigures> measure_ot(const OtRun& run);

}  // namespace tkdc::bench
