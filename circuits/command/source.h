// SPDX-License-Identifier: Apache-2.0
// What `tkdc circuit` works on: a circuit by name or from a file, and values as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "circuit/circuit.h"
#include "circuit/plain.h"

namespace tkdc::circuits {

inline constexpr std::size_t kMaxCircuitFileBytes = std::size_t{1} << 30;

// A name of the catalogue (circuits/catalogue.h), else a file in Bristol Fashion. Errors: a size
// that the named circuit does not have, no such name or file, a file that is too long or wrong.
Result<circuit::Circuit> read_circuit(const std::string& source);

enum class Digits : std::uint8_t {
  kOctets,    // an octet string: bit k of octet j is the value's bit 8 j + k
  kIntegers,  // a number, its highest digit first: its lowest bit is the value's first
};

// Hexadecimal digits of whole octets; the bits that the last one has too many are zero.
Result<circuit::SecretSlices> parse_value(std::string_view digits, const circuit::Port& port,
                                          Digits how);
std::string print_value(std::span<const circuit::Slice> value, Digits how);

// The counts of the catalogue's circuits beside what is published, in Markdown.
std::string circuit_table();

}  // namespace tkdc::circuits
