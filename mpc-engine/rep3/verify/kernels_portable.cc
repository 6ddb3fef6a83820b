// SPDX-License-Identifier: Apache-2.0
// The reference kernels: plain words, no instruction that a CPU may lack; octets
// eight in a word.
#include "embedding_constants.h"
#include "field/octet_words.h"
#include "rep3/verify/gf64.h"
#include "rep3/verify/points.h"

namespace tkdc::gf64 {
namespace {

using namespace octet_words;
constexpr std::size_t kWords = kLanes / 8;

// The transpose of an 8x8 bit matrix whose row r is octet r.
Word transpose(Word m) {
  Word t = (m ^ (m >> 7)) & 0x00aa00aa00aa00aau;
  m ^= t ^ (t << 7);
  t = (m ^ (m >> 14)) & 0x0000cccc0000ccccu;
  m ^= t ^ (t << 14);
  t = (m ^ (m >> 28)) & 0x00000000f0f0f0f0u;
  return m ^ t ^ (t << 28);
}

// GF2P8AFFINEQB computes bit i of a result from octet 7 - i of the matrix.
void set_matrices(Lift& lift) {
  for (int o = 0; o < 8; ++o) {
    Word rows = 0;
    for (int b = 0; b < 8; ++b) rows |= (lift.column[b] >> (8 * o) & 0xff) << (8 * b);
    lift.matrix[o] = __builtin_bswap64(transpose(rows));
  }
}

void set_octet_lift(Element factor, Lift& lift) {
  for (int b = 0; b < 8; ++b) lift.column[b] = multiply_portable(factor, kEmbedColumns[b]);
  set_matrices(lift);
}

void add_scaled(Element factor, const Element in[8], Element out[8]) {
  for (int k = 0; k < 8; ++k) out[k] ^= multiply_portable(factor, in[k]);
}

Element image(const Lift& lift, unsigned octet) {
  Element sum = 0;
  for (int b = 0; b < 8; ++b) sum ^= lift.column[b] & (0 - (Element{octet} >> b & 1));
  return sum;
}

// sums += the lifted octets of the word, which are those of lanes 8 w ...
void add_lifted(LaneSums& sums, std::size_t w, const Lift& lift, Word octets) {
  Word image_rows[8];
  for (std::size_t k = 0; k < 8; ++k)
    image_rows[k] = image(lift, static_cast<unsigned>(octets >> 8 * k & 0xff));
  for (std::size_t o = 0; o < 8; ++o) {
    Word row = 0;
    for (std::size_t k = 0; k < 8; ++k) row |= (image_rows[k] >> 8 * o & 0xff) << 8 * k;
    std::uint8_t* at = sums.octet[o] + 8 * w;
    store(at, load(at) ^ row);
  }
}

// The octets of lanes 8 w ... of a strand.
Word load_strand(const Tile& tile, std::size_t strand, std::size_t w) {
  return load(tile.base + tile.row[strand] + 8 * w);
}

void extended(const OctetValue& value, const Tile* tiles, std::size_t w, Word out[kVertices]) {
  const std::size_t slots = value.slot.size();
  auto slot = [&](std::size_t first, std::size_t k) {
    const std::size_t s = first + k;
    Word sum = 0;
    for (const RowMap& map : value.slot[s % slots])
      sum ^= apply(map.column, load_strand(tiles[s / slots], map.row, w));
    return sum;
  };
  extend(slot, out,
         [](Word a, std::size_t k) { return octet_words::multiply(a, kExtension.octet[k]); });
}

void octet_points(const OctetProducts& shape, const Tile* tiles, const Lift* weight,
                  LaneSums sums[kVertices]) {
  for (std::size_t w = 0; w < kWords; ++w)
    for (const OctetProducts::Factor& factor : shape.factors) {
      Word x[kVertices], y[kVertices];
      extended(factor.x, tiles, w, x);
      for (const OctetProducts::Right& right : factor.right) {
        extended(right.y, tiles, w, y);
        for (std::size_t p = 0; p < kVertices; ++p)
          add_lifted(sums[p], w, weight[right.claim], octet_words::multiply(x[p], y[p]));
      }
    }
}

void bit_points(std::size_t factors, const Tile* tiles, const Lift& weight,
                LaneSums sums[kBitPoints]) {
  constexpr std::size_t kAll = 81;
  for (std::size_t w = 0; w < kWords; ++w) {
    Word terms[kAll] = {};
    for (std::size_t f = 0; f < factors; ++f) {
      Word vertex[4][kBitSlots], at[4][kAll];
      for (std::size_t s = 0; s < kBitSlots; ++s) {
        const std::size_t x = 2 * f, y = 2 * (factors + f);
        vertex[0][s] = load_strand(tiles[s], x, w);
        vertex[1][s] = load_strand(tiles[s], x + 1, w);
        vertex[2][s] = load_strand(tiles[s], y, w);
        vertex[3][s] = vertex[2][s] ^ load_strand(tiles[s], y + 1, w);
      }
      for (int v = 0; v < 4; ++v) spread_points<4>(vertex[v], at[v]);
      for (std::size_t p = 0; p < kAll; ++p)
        terms[p] ^= (at[0][p] & at[3][p]) ^ (at[1][p] & at[2][p]);
    }
    std::size_t extra = 0;
    for (std::size_t p = 0; p < kAll; ++p)
      if (!is_vertex<4>(p)) add_lifted(sums[extra++], w, weight, terms[p]);
  }
}

Element lane_sum(const LaneSums& sums, const Element weight[kLanes]) {
  Element total = 0;
  for (std::size_t p = 0; p < kLanes; ++p) {
    Element e = 0;
    for (std::size_t o = 0; o < 8; ++o) e |= Element{sums.octet[o][lane_at(p)]} << 8 * o;
    total ^= multiply_portable(weight[p], e);
  }
  return total;
}

void lift_octets(const std::vector<StrandLift>& strands, const Tile* tiles, const Element* weight,
                 Element* out) {
  for (std::size_t p = 0; p < kLanes; ++p) {
    Element sum = 0;
    for (const StrandLift& one : strands) {
      const Tile& tile = tiles[one.tile];
      sum ^= image(one.lift, tile.base[tile.row[one.strand] + lane_at(p)]);
    }
    out[p] = weight == nullptr ? sum : multiply_portable(sum, weight[p]);
  }
}

void lift_bits(const Lift lift[4], const Tile* tiles, std::size_t row, Element* out) {
  for (std::size_t p = 0; p < 8 * kLanes; ++p) {
    const LaneBit at = lane_bit_at(p);
    Element sum = 0;
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t s = 0; s < kBitSlots; ++s) {
        const unsigned octet = tiles[s].base[tiles[s].row[2 * row + c] + at.lane];
        sum ^= lift[2 * c + s / 8].column[s % 8] & (0 - (Element{octet} >> at.bit & 1));
      }
    out[p] = sum;
  }
}

void scale(std::size_t n, const Element* weight, Element factor, Element* y) {
  for (std::size_t k = 0; k < n; ++k)
    y[k] = multiply_portable(y[k], multiply_portable(weight[k], factor));
}

Element dot(std::size_t n, const Element* a, const Element* b) {
  Element sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum ^= multiply_portable(a[k], b[k]);
  return sum;
}

template <int n>
void points_of(std::size_t stride, const Factors& v, Element* out) {
  constexpr std::size_t kParts = std::size_t{1} << n, kAll = points(n);
  for (std::size_t p = 0; p < kAll; ++p) out[p] = 0;
  for (std::size_t k = 0; k < stride; ++k) {
    Element x[kParts], y[kParts], x_at[kAll], y_at[kAll];
    for (std::size_t i = 0; i < kParts; ++i) {
      x[i] = v.x[i * stride + k];
      y[i] = v.y[i * stride + k];
    }
    spread_points<n>(x, x_at);
    spread_points<n>(y, y_at);
    for (std::size_t p = 0; p < kAll; ++p) out[p] ^= multiply_portable(x_at[p], y_at[p]);
  }
}

void points_any(int n, std::size_t stride, const Factors& v, Element* out) {
  switch (n) {
    case 1: return points_of<1>(stride, v, out);
    case 2: return points_of<2>(stride, v, out);
    case 3: return points_of<3>(stride, v, out);
    case 4: return points_of<4>(stride, v, out);
    default: return points_of<5>(stride, v, out);
  }
}

void fold(int n, std::size_t stride, const MutableFactors& v, const Element* at) {
  for (Element* one : {v.x, v.y})
    for (std::size_t k = 0; k < stride; ++k) {
      Element sum = 0;
      for (std::size_t i = 0; i < std::size_t{1} << n; ++i)
        sum ^= multiply_portable(at[i], one[i * stride + k]);
      one[k] = sum;
    }
}

constexpr Kernels kPortable = {
    .name = "portable",
    .multiply = multiply_portable,
    .set_matrices = set_matrices,
    .set_octet_lift = set_octet_lift,
    .add_scaled = add_scaled,
    .octet_points = octet_points,
    .bit_points = bit_points,
    .lane_sum = lane_sum,
    .lift_octets = lift_octets,
    .lift_bits = lift_bits,
    .scale = scale,
    .dot = dot,
    .points = points_any,
    .fold = fold,
};

}  // namespace

const Kernels& kernels_portable() { return kPortable; }

}  // namespace tkdc::gf64
