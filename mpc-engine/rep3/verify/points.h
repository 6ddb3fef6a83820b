// SPDX-License-Identifier: Apache-2.0
// Values of multilinear polynomials at {0, 1, infinity}^n, where the value at
// infinity is the leading coefficient: f(inf) = f(0) + f(1). Only additions.
#pragma once

#include <cstddef>

namespace tkdc {

// How many points {0, 1, infinity}^n has.
constexpr std::size_t points(int n) { return n == 0 ? 1 : 3 * points(n - 1); }

// Vertex values in[k] at the bits of k (n variables, 2^n of them) -> out[3^n],
// the variable of the lowest bit fastest. W: anything with ^.
template <int n, class W>
inline void spread_points(const W* in, W* out) {
  if constexpr (n == 0) {
    out[0] = in[0];
  } else {
    constexpr std::size_t half = std::size_t{1} << (n - 1);
    constexpr std::size_t third = points(n - 1);
    spread_points<n - 1>(in, out);
    spread_points<n - 1>(in + half, out + third);
    for (std::size_t k = 0; k < third; ++k) out[2 * third + k] = out[k] ^ out[third + k];
  }
}

// Index in {0,1,infinity}^n of the vertex k of {0,1}^n.
constexpr std::size_t vertex_point(std::size_t k) {
  return k == 0 ? 0 : (k & 1) + 3 * vertex_point(k >> 1);
}

// Whether the point has no infinity.
template <int n>
constexpr bool is_vertex(std::size_t point) {
  for (int k = 0; k < n; ++k, point /= 3)
    if (point % 3 == 2) return false;
  return true;
}

}  // namespace tkdc
