// SPDX-License-Identifier: Apache-2.0
// tkdc bench garble, what one core does: a piece of tables is garbled, then evaluated, through
// whole chains (garbled_chain.h); beside it how fast this core's AES is, which is the floor: four
// calls to garble an AND, two to evaluate it.
#pragma once

#include "tools/bench/garbled_chain.h"

namespace tkdc::bench {

struct MemoryFigures {
  std::string circuit;
  std::size_t instances;                  // side by side
  double garble_ns = 0, evaluate_ns = 0;  // an AND, the XORs before it included
  std::uint64_t ands = 0;                 // in all slices
};

struct MemoryReport {
  double aes_blocks_per_ns = 0;
  std::vector<MemoryFigures> figures;
};

// AES-128 on this core, by a kernel's permute().
double aes_blocks_per_ns(const garble::Kernel& kernel);

// Slices of all in turn until `seconds` are over, the best of each: the machine may have others.
Result<MemoryReport> measure_garbling(const std::vector<Chain>& chains,
                                      const garble::Kernel& kernel, double seconds);

}  // namespace tkdc::bench
