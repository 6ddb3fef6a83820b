// SPDX-License-Identifier: Apache-2.0
// GF(2^128) as strings and blocks of bits have it: modulo X^128 + X^7 + X^2 + X + 1, bit i of a
// label being X^i. By PCLMULQDQ, or in plain C++ where the CPU lacks it. Constant time, no state.
#pragma once

#include <span>

#include "ot/kernel.h"

namespace tkdc::ot {

using garble::Label;

// X times a value, modulo X^128 + X^7 + X^2 + X + 1.
inline Label times_x(const Label& a) {
  return {a.low << 1 ^ (0x87 & (0 - (a.high >> 63))), a.high << 1 | a.low >> 63};
}

struct Field {
  Label (*product)(const Label& a, const Label& b);
  // Σ a_k b_k.
  Label (*dot)(std::span<const Label> a, std::span<const Label> b);
};

const Field& field();
// The implementations; the second one null where the CPU lacks it.
const Field* field_reference();
const Field* field_clmul();

}  // namespace tkdc::ot
