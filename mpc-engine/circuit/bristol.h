// SPDX-License-Identifier: Apache-2.0
// Circuits as text in Bristol Fashion, the format of Archer, Abril, Lu, Maene, Mertens, Sijacic and
// Smart's collection ("'Bristol Fashion' MPC Circuits"):
//
//   gates wires
//   values bits bits ...        what goes in
//   values bits bits ...        what comes out
//   2 1 a b out XOR             AND likewise
//   1 1 a out INV
//   1 1 0|1 out EQ              out is the constant
//   1 1 a out EQW               out is a
//
// The inputs are the first wires, the outputs the last. Blank lines are skipped. Values have no
// names there: those that are read are called in0, in1, ..., out0, ...
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "circuit/circuit.h"

namespace tkdc::circuit {

struct BristolLimits {
  std::size_t gates = std::size_t{1} << 26;
  std::size_t value_bits = std::size_t{1} << 22;  // of all inputs together, and of all outputs
  std::size_t values = 4096;                      // in, and out
};

// Text from anywhere. Every number is checked before it is used, memory is bounded by the text's
// length; an error names the line. EQW makes no gate.
Result<Circuit> read_bristol(std::string_view text, const BristolLimits& limits = {});

// A sound circuit. An output that is an input, or that another output is too, gets an EQW.
std::string write_bristol(const Circuit& circuit);

}  // namespace tkdc::circuit
