// SPDX-License-Identifier: Apache-2.0
// What a random point of octet_check.h's polynomials weighs: Lagrange's weights of the slots, and
// of the points that determine h. All public.
#pragma once

#include "field/gf256.h"
#include "rep3/verify/inner_product.h"

namespace tkdc {

// Points of interpolation, which are octets: 0, 1, 2, ..
template <std::size_t kCount>
struct OctetPoints {
  gf64::Element point[kCount],
      scale[kCount];  // scale: 1 / product of the differences to the others
  OctetPoints() {
    for (std::size_t k = 0; k < kCount; ++k) {
      point[k] = gf64::embed(static_cast<std::uint8_t>(k));
      std::uint8_t product = 1;
      for (std::size_t other = 0; other < kCount; ++other)
        if (other != k) product = gf256_multiply(product, static_cast<std::uint8_t>(k ^ other));
      scale[k] = gf64::embed(gf256_inverse(product));
    }
  }
  // Lagrange's weights at t.
  std::vector<gf64::Element> weights(gf64::Element t) const {
    std::vector<gf64::Element> out(kCount);
    gf64::Element before = 1, after = 1;
    for (std::size_t k = 0; k < kCount; ++k) {
      out[k] = gf64::multiply(before, scale[k]);
      before = gf64::multiply(before, t ^ point[k]);
    }
    for (std::size_t k = kCount; k-- > 0;) {
      out[k] = gf64::multiply(out[k], after);
      after = gf64::multiply(after, t ^ point[k]);
    }
    return out;
  }
};

// What a point of the challenge weighs: x and y of the slots, and h's values at the
// vertices and at the other points.
struct Weights {
  std::vector<gf64::Element> slot, vertex, extra;
};

inline Weights octet_weights(gf64::Element t) {
  static_assert(gf64::extra_point(0) == gf64::kVertices);
  static const OctetPoints<gf64::kVertices> slots;
  static const OctetPoints<gf64::kVertices + gf64::kExtraPoints> points;
  Weights out;
  out.slot = slots.weights(t);
  const std::vector<gf64::Element> all = points.weights(t);
  out.vertex.assign(all.begin(), all.begin() + gf64::kVertices);
  out.extra.assign(all.begin() + gf64::kVertices, all.end());
  return out;
}

inline Weights bit_weights(const gf64::Element t[4]) {
  using Check = InnerProductCheck<Gf64Field>;
  auto product = [t](auto factor) {
    gf64::Element weight = 1;
    for (int v = 0; v < 4; ++v) weight = gf64::multiply(weight, factor(t[v], v));
    return weight;
  };
  Weights out;
  for (std::size_t s = 0; s < gf64::kBitSlots; ++s)
    out.slot.push_back(
        product([s](gf64::Element at, int v) { return Check::linear(at, s >> v & 1); }));
  std::vector<gf64::Element> all;
  for (std::size_t p = 0; p < points(4); ++p)
    all.push_back(
        product([p](gf64::Element at, int v) { return Check::quadratic(at, p / points(v) % 3); }));
  for (std::size_t s = 0; s < gf64::kBitSlots; ++s) out.vertex.push_back(all[vertex_point(s)]);
  for (std::size_t p = 0; p < all.size(); ++p)
    if (!is_vertex<4>(p)) out.extra.push_back(all[p]);
  return out;
}

}  // namespace tkdc
