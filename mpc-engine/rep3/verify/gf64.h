// SPDX-License-Identifier: Apache-2.0
// GF(2^64) = GF(2)[t]/(t^64 + t^4 + t^3 + t + 1), the field in which octet
// claims are verified, and the kernels that do the bulk of it.
//
// Constant time: no branch and no index depends on an operand. One
// implementation is picked once, at start: portable (the reference) or avx512
// (GFNI and VPCLMULQDQ). Both give the same elements in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rep3/claims.h"
#include "rep3/verify/extension.h"

namespace tkdc::gf64 {

using Element = std::uint64_t;

Element multiply(Element a, Element b);           // by this CPU's kernels
Element multiply_portable(Element a, Element b);  // the reference
Element inverse(Element a);                       // of a public element, not 0
// The octet of the AES field as an element.
Element embed(std::uint8_t octet);

inline constexpr std::size_t kLanes = ClaimRows::kLanes;
inline constexpr std::size_t kBitSlots = ClaimRows::kBitSlots;
static_assert(ClaimRows::kOctetSlots == kVertices);
using Tile = ClaimRows::Tile;

// Elements of 64 lanes stand in an order that suits vector registers: at position
// p the one of lane lane_at(p).
constexpr std::size_t lane_at(std::size_t p) {
  return 16 * (p % 8 / 2) + 8 * (p / 32) + 2 * (p / 8 % 4) + p % 2;
}
// Of a block of bits: the lane 0..63 and the bit of its octet.
struct LaneBit {
  std::size_t lane, bit;
};
constexpr LaneBit lane_bit_at(std::size_t p) {
  const std::size_t within = lane_at(p % 64);
  return {lane_at(p / 64 * 8 + within / 8), within % 8};
}

// A linear map from octets to elements: the images of the bits, and the same as
// operands of GF2P8AFFINEQB, matrix[o] for octet o of the result.
struct Lift {
  Element column[8];
  std::uint64_t matrix[8];
};
// A lift of this strand of this tile.
struct StrandLift {
  std::size_t tile, strand;
  Lift lift;
};

// Sums over blocks, octet o of the sum at each lane.
struct alignas(64) LaneSums {
  std::uint8_t octet[8][kLanes];
  void clear();
};

// Points of products in one bit each beside the vertices: in four variables 65 of
// {0, 1, infinity}^4. Those of octets: kExtraPoints of extension.h.
inline constexpr std::size_t kBitPoints = 65;

// x or y of octet claims in each slot of a tile: sums of maps of rows.
struct RowMap {
  std::size_t row;
  std::uint8_t column[8];
  std::uint64_t matrix;  // for GF2P8AFFINEQB
};
struct OctetValue {
  std::vector<std::vector<RowMap>> slot;
};
struct OctetProducts {
  struct Right {
    OctetValue y;
    std::size_t claim;
  };
  struct Factor {
    OctetValue x;
    std::vector<Right> right;
  };
  static constexpr std::size_t kMost = 8;  // products
  std::vector<Factor> factors;
};

// Two vectors of one length.
struct Factors {
  const Element *x, *y;
};
struct MutableFactors {
  Element *x, *y;
};

struct Kernels {
  const char* name;
  Element (*multiply)(Element a, Element b);
  // The matrices of a lift from its columns.
  void (*set_matrices)(Lift& lift);
  // Columns: the images of the octets' bits times the factor; and the matrices.
  void (*set_octet_lift)(Element factor, Lift& lift);

  // out[k] += factor * in[k] for 8 elements.
  void (*add_scaled)(Element factor, const Element in[8], Element out[8]);

  // sums[k] += weight[claim] * the products at vertex k + 32 for each lane of the block;
  // the last is one more than needed.
  void (*octet_points)(const OctetProducts& shape, const Tile* tiles, const Lift* weight,
                       LaneSums sums[kVertices]);
  // The same for bits, of this party's terms, with all bits of an octet in one.
  void (*bit_points)(std::size_t factors, const Tile* tiles, const Lift& weight,
                     LaneSums sums[kBitPoints]);
  // The sum of weight[p] * the sum of lane_at(p).
  Element (*lane_sum)(const LaneSums& sums, const Element weight[kLanes]);

  // out[p] = weight[p] * the sum of the lifted octets at lane lane_at(p). Without weights
  // (null): the sum.
  void (*lift_octets)(const std::vector<StrandLift>& strands, const Tile* tiles,
                      const Element* weight, Element* out);
  // out[p] = the sum over components c and slots s of element[c][s] * the bit lane_bit_at(p)
  // of this row of tile s, 512 elements; lift: of component 0's slots 0..7 and 8..15 as if
  // they were an octet's bits, then component 1's.
  void (*lift_bits)(const Lift lift[4], const Tile* tiles, std::size_t row, Element* out);
  // y[k] *= weight[k] * factor; n is a multiple of 8.
  void (*scale)(std::size_t n, const Element* weight, Element factor, Element* y);
  // The sum of a[k] b[k]; n is a multiple of 8.
  Element (*dot)(std::size_t n, const Element* a, const Element* b);

  // sum X(point) Y(point) at the points of {0, 1, infinity}^n: X and Y are linear in each
  // of n variables, 1 to 5, with the n-th parts of v at the vertices, each `stride` elements.
  void (*points)(int n, std::size_t stride, const Factors& v, Element* out);
  // v[k] = sum over i < 2^n of at[i] v[i stride + k], for both vectors.
  void (*fold)(int n, std::size_t stride, const MutableFactors& v, const Element* at);
};

const Kernels& kernels_portable();
const Kernels* kernels_avx512();  // null when the CPU lacks it
const Kernels& kernels();         // the fastest of this CPU

}  // namespace tkdc::gf64
