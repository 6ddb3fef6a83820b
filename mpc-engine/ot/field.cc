// SPDX-License-Identifier: Apache-2.0
#include "ot/field.h"

namespace tkdc::ot {
namespace {

Label plain_product(const Label& a, const Label& b) {
  Label out, power = b;
  for (unsigned i = 0; i < 128; ++i) {
    out = out ^ power.where((i < 64 ? a.low >> i : a.high >> (i - 64)) & 1);
    power = times_x(power);
  }
  return out;
}

Label plain_dot(std::span<const Label> a, std::span<const Label> b) {
  Label out;
  for (std::size_t k = 0; k < a.size(); ++k) out = out ^ plain_product(a[k], b[k]);
  return out;
}

constexpr Field kPlainField = {plain_product, plain_dot};

}  // namespace

const Field* field_reference() { return &kPlainField; }

const Field& field() {
  static const Field& chosen = field_clmul() != nullptr ? *field_clmul() : kPlainField;
  return chosen;
}

}  // namespace tkdc::ot
