// SPDX-License-Identifier: Apache-2.0
#include "lut/field.h"

#include "lut/label.h"

namespace tkdc::lut {
namespace {

Label product(const Label& a, const Label& b) {
  Label out, power = b;
  for (unsigned i = 0; i < 128; ++i) {
    out = out ^ power.where((i < 64 ? a.low >> i : a.high >> (i - 64)) & 1);
    power = times_x(power);
  }
  return out;
}

Label dot(std::span<const Label> a, std::span<const Label> b) {
  Label out;
  for (std::size_t k = 0; k < a.size(); ++k) out = out ^ product(a[k], b[k]);
  return out;
}

constexpr Field kReference = {product, dot};

}  // namespace

const Field* field_reference() { return &kReference; }

const Field& field() {
  static const Field& chosen = field_clmul() != nullptr ? *field_clmul() : kReference;
  return chosen;
}

}  // namespace tkdc::lut
