// SPDX-License-Identifier: Apache-2.0
// What tables cost on labels of octets, in implementations of which each CPU takes the fastest that
// it has. All give the same octets; kernels/reference.cc reads like the formulas below.
//
// A table T has 256 octets; its masked table of a one-hot vector e, e_s = 1, has at place i
//
//   T(i ⊕ s) = Σ_j T(i ⊕ j) e_j        (Keller and others, ACNS 2017, section 4.1)
//
// Thread-safe, no state. Secret: labels, shares; no branch and no address depends on them. Public:
// tables and places. Nothing here fails.
#pragma once

#include <array>
#include <string_view>

#include "lut/label.h"

namespace tkdc::lut {

inline constexpr std::size_t kPlaces = 256;
using Table = std::array<std::uint8_t, kPlaces>;

struct Kernel {
  std::string_view name;  // "gfni512", "reference"

  // The masked table's label at one place. `vector`: e's labels, octet 0 the share alone.
  Label (*look_up)(const Label* vector, const Table& table, std::uint8_t place);
  // At all places. `out` may be `vector`.
  void (*expand)(const Label* vector, const Table& table, Label* out);
  // Shares of masked tables from shares of their e, 32 octets each: bit j in octet j / 8 at place
  // j % 8.
  void (*expand_shares)(const std::uint8_t* vectors, std::size_t count, const Table& table,
                        std::uint8_t* out);
  // Σ_k factors[k] labels[k], in octets; `count` is a multiple of four.
  Label (*dot)(const Label* labels, const std::uint8_t* factors, std::size_t count);
  // out = MixColumns(ShiftRows(in)) ⊕ key; without MixColumns in the last round (FIPS 197, 5.1). A
  // state's label 4 c + r is of row r, column c.
  void (*finish_round)(const Label* in, const Label* key, bool last, Label* out);
  // The same of shares that are octets, in place, `count` states one behind the other.
  void (*finish_shares)(std::uint8_t* states, std::size_t count, const std::uint8_t* key,
                        bool last);
};

const Kernel* kernel_reference();
const Kernel* kernel_gfni512();  // null where the CPU lacks its instructions

inline const Kernel& fastest_kernel() {
  static const Kernel& chosen =
      kernel_gfni512() != nullptr ? *kernel_gfni512() : *kernel_reference();
  return chosen;
}

// By an octet, each of a label's.
Label times(const Label& label, std::uint8_t factor);

}  // namespace tkdc::lut
