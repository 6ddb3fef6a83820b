// SPDX-License-Identifier: Apache-2.0
// tkdc bench garble, between two processes: one garbles a chain, the other evaluates it as the
// tables arrive. What both sides of a two-party computation do, but for the transfer of input
// labels: here the garbler knows all inputs.
#pragma once

#include "tools/bench/garbled_chain.h"
#include "tools/bench/stream_pair.h"

namespace tkdc::bench {

struct PairFigures {
  double ands_per_s = 0;
  // CPU of each process for an AND, the kernel's share for the network included.
  double garbler_cpu_ns = 0, evaluator_cpu_ns = 0;
  double octets_per_s = 0;
  std::uint64_t ands = 0;
};

// Links for so long. Error also: the chain's end is not what OpenSSL computes.
Result<PairFigures> measure_garbled_pair(const Chain& chain, std::size_t instances,
                                         const garble::Kernel& kernel, Transport transport,
                                         double seconds);

}  // namespace tkdc::bench
