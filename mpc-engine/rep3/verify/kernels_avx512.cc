// SPDX-License-Identifier: Apache-2.0
// The kernels for CPUs with AVX-512, GFNI and VPCLMULQDQ: 64 octet products or
// linear maps in an instruction, 4 carry-less products of 64 bits.
#include <immintrin.h>

#include "embedding_constants.h"
#include "rep3/verify/gf64.h"
#include "rep3/verify/points.h"

namespace tkdc::gf64 {
namespace {

struct Word {
  __m512i v;
};
inline Word operator^(Word a, Word b) { return {_mm512_xor_si512(a.v, b.v)}; }
inline Word operator&(Word a, Word b) { return {_mm512_and_si512(a.v, b.v)}; }

inline Word zero() { return {_mm512_setzero_si512()}; }
inline Word load(const void* p) { return {_mm512_loadu_si512(p)}; }
inline void store(void* p, Word w) { _mm512_storeu_si512(p, w.v); }
inline Word octet_multiply(Word a, Word b) { return {_mm512_gf2p8mul_epi8(a.v, b.v)}; }
inline Word broadcast(std::uint64_t v) { return {_mm512_set1_epi64(static_cast<long long>(v))}; }
inline Word affine(Word matrix, Word a) {
  return {_mm512_gf2p8affine_epi64_epi8(a.v, matrix.v, 0)};
}
inline Word affine(std::uint64_t matrix, Word a) { return affine(broadcast(matrix), a); }
inline Word add3(Word a, Word b, Word c) {
  return {_mm512_ternarylogic_epi64(a.v, b.v, c.v, 0x96)};
}

// ---- 8 elements of GF(2^64) in a register

// Products that are not reduced yet: of the even and of the odd elements.
struct Wide {
  Word even{_mm512_setzero_si512()}, odd{_mm512_setzero_si512()};
  void add(Word a, Word b) {
    even.v = _mm512_xor_si512(even.v, _mm512_clmulepi64_epi128(a.v, b.v, 0x00));
    odd.v = _mm512_xor_si512(odd.v, _mm512_clmulepi64_epi128(a.v, b.v, 0x11));
  }
};

inline Word reduce(const Wide& wide) {
  Word low = {_mm512_unpacklo_epi64(wide.even.v, wide.odd.v)};
  const __m512i high = _mm512_unpackhi_epi64(wide.even.v, wide.odd.v);
  // t^64 = t^4 + t^3 + t + 1; what this moves above t^63 once more is 4 bits.
  auto times_tail = [](__m512i v) {
    return _mm512_ternarylogic_epi64(_mm512_xor_si512(v, _mm512_slli_epi64(v, 1)),
                                     _mm512_slli_epi64(v, 3), _mm512_slli_epi64(v, 4), 0x96);
  };
  const __m512i above = _mm512_ternarylogic_epi64(
      _mm512_srli_epi64(high, 63), _mm512_srli_epi64(high, 61), _mm512_srli_epi64(high, 60), 0x96);
  low.v = _mm512_ternarylogic_epi64(low.v, times_tail(high), times_tail(above), 0x96);
  return low;
}

inline Word multiply(Word a, Word b) {
  Wide wide;
  wide.add(a, b);
  return reduce(wide);
}

Element multiply_one(Element a, Element b) {
  Wide wide;
  wide.add({_mm512_zextsi128_si512(_mm_cvtsi64_si128(static_cast<long long>(a)))},
           {_mm512_zextsi128_si512(_mm_cvtsi64_si128(static_cast<long long>(b)))});
  return static_cast<Element>(_mm_cvtsi128_si64(_mm512_castsi512_si128(reduce(wide).v)));
}

inline Element horizontal_sum(Word w) {
  alignas(64) Element lane[8];
  store(lane, w);
  Element sum = 0;
  for (Element e : lane) sum ^= e;
  return sum;
}

// The first `left` of 8 elements; the others are 0.
inline __mmask8 first(std::size_t left) {
  return static_cast<__mmask8>(left >= 8 ? 0xff : (1u << left) - 1);
}
inline Word load_first(const Element* p, __mmask8 mask) {
  return {_mm512_maskz_loadu_epi64(mask, p)};
}

// ---- lifts

// The 8x8 transpose of each quadword's bits, the result's octets from the highest.
inline Word transposed_bits(Word a) { return affine(a, broadcast(0x0102040810204080u)); }

// Rows of octets, w[o] -> quadwords of octets 0..7 of the lanes lane_at(0), ..
inline void transpose(const Word w[8], Word out[8]) {
  __m512i a[8], b[4];
  for (int k = 0; k < 4; ++k) {
    a[k] = _mm512_unpacklo_epi8(w[2 * k].v, w[2 * k + 1].v);
    a[k + 4] = _mm512_unpackhi_epi8(w[2 * k].v, w[2 * k + 1].v);
  }
  for (int half = 0; half < 2; ++half) {
    const __m512i* in = a + 4 * half;
    b[0] = _mm512_unpacklo_epi16(in[0], in[1]);
    b[1] = _mm512_unpackhi_epi16(in[0], in[1]);
    b[2] = _mm512_unpacklo_epi16(in[2], in[3]);
    b[3] = _mm512_unpackhi_epi16(in[2], in[3]);
    Word* to = out + 4 * half;
    to[0] = {_mm512_unpacklo_epi32(b[0], b[2])};
    to[1] = {_mm512_unpackhi_epi32(b[0], b[2])};
    to[2] = {_mm512_unpacklo_epi32(b[1], b[3])};
    to[3] = {_mm512_unpackhi_epi32(b[1], b[3])};
  }
}

inline void store_transposed(const Word w[8], Element* out) {
  Word elements[8];
  transpose(w, elements);
  for (int k = 0; k < 8; ++k) store(out + 8 * k, elements[k]);
}

// Octet b of quadword o is octet o of column b; row i of a matrix is octet 7 - i.
void set_matrices(Lift& lift) {
  alignas(64) static constexpr std::uint8_t kFrom[64] = {
      56, 48, 40, 32, 24, 16, 8,  0,  57, 49, 41, 33, 25, 17, 9,  1,  58, 50, 42, 34, 26, 18,
      10, 2,  59, 51, 43, 35, 27, 19, 11, 3,  60, 52, 44, 36, 28, 20, 12, 4,  61, 53, 45, 37,
      29, 21, 13, 5,  62, 54, 46, 38, 30, 22, 14, 6,  63, 55, 47, 39, 31, 23, 15, 7};
  const Word gathered = {_mm512_permutexvar_epi8(load(kFrom).v, load(lift.column).v)};
  store(lift.matrix, transposed_bits(gathered));
}

void set_octet_lift(Element factor, Lift& lift) {
  store(lift.column, multiply(broadcast(factor), load(kEmbedColumns)));
  set_matrices(lift);
}

void add_scaled(Element factor, const Element in[8], Element out[8]) {
  store(out, load(out) ^ multiply(broadcast(factor), load(in)));
}

// ---- sums at points

// Loads, and has what stands there in the next block brought near, where rows go on in
// memory from block to block (ClaimRows::hold); elsewhere it does no harm.
inline Word load_strand(const Tile& tile, std::size_t strand) {
  constexpr std::size_t kAhead = kVertices / 4 * kLanes;
  const std::uint8_t* const p = tile.base + tile.row[strand];
  _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(p) + kAhead),
               _MM_HINT_T0);
  return load(p);
}

// A value at the extra points from its values at the slots, kSlots in a tile, each the sum
// of kMaps maps (0: of as many as there are).
template <std::size_t kSlots, std::size_t kMaps>
__attribute__((noinline)) void extended(const OctetValue& value, const Tile* tiles,
                                        Word out[kVertices]) {
  const RowMap* map[kSlots];
  for (std::size_t s = 0; s < kSlots; ++s) map[s] = value.slot[s].data();
  auto slot = [&](std::size_t first, std::size_t k) __attribute__((always_inline)) {
    const Tile& tile = tiles[(first + k) / kSlots];
    const RowMap* at = map[k % kSlots];
    Word sum = affine(at->matrix, load_strand(tile, at->row));
    const std::size_t maps = kMaps != 0 ? kMaps : value.slot[k % kSlots].size();
    for (std::size_t more = 1; more < maps; ++more)
      sum = sum ^ affine(at[more].matrix, load_strand(tile, at[more].row));
    return sum;
  };
  extend(slot, out, [](Word a, std::size_t k) { return affine(kExtension.matrix[k], a); });
}

template <std::size_t kSlots>
void extended_by_maps(const OctetValue& value, const Tile* tiles, Word out[kVertices]) {
  auto all_have = [&](std::size_t maps) {
    for (const auto& slot : value.slot)
      if (slot.size() != maps) return false;
    return true;
  };
  if (all_have(1)) return extended<kSlots, 1>(value, tiles, out);
  if (kSlots == 4 && all_have(2)) return extended<kSlots, 2>(value, tiles, out);
  extended<kSlots, 0>(value, tiles, out);
}

void extended(const OctetValue& value, const Tile* tiles, Word out[kVertices]) {
  switch (value.slot.size()) {
    case 1: return extended_by_maps<1>(value, tiles, out);
    case 2: return extended_by_maps<2>(value, tiles, out);
    default: return extended_by_maps<4>(value, tiles, out);
  }
}

void octet_points(const OctetProducts& shape, const Tile* tiles, const Lift* weight,
                  LaneSums sums[kVertices]) {
  Word x[kVertices], y[kVertices], terms[OctetProducts::kMost][kVertices];
  const Lift* lift[OctetProducts::kMost];
  std::size_t products = 0;
  for (const OctetProducts::Factor& factor : shape.factors) {
    extended(factor.x, tiles, x);
    for (const OctetProducts::Right& right : factor.right) {
      extended(right.y, tiles, y);
      for (std::size_t p = 0; p < kVertices; ++p) terms[products][p] = octet_multiply(x[p], y[p]);
      lift[products++] = &weight[right.claim];
    }
  }
  for (std::size_t p = 0; p < kVertices; p += 2) {  // two share a matrix that is loaded
    Word sum[2][8];
#pragma GCC unroll 8
    for (std::size_t o = 0; o < 8; ++o) {
      sum[0][o] = load(sums[p].octet[o]);
      sum[1][o] = load(sums[p + 1].octet[o]);
    }
    std::size_t k = 0;
    for (; k + 2 <= products; k += 2)
#pragma GCC unroll 8
      for (std::size_t o = 0; o < 8; ++o) {
        const Word a = broadcast(lift[k]->matrix[o]), b = broadcast(lift[k + 1]->matrix[o]);
        for (std::size_t i = 0; i < 2; ++i)
          sum[i][o] = add3(sum[i][o], affine(a, terms[k][p + i]), affine(b, terms[k + 1][p + i]));
      }
    if (k < products)
#pragma GCC unroll 8
      for (std::size_t o = 0; o < 8; ++o) {
        const Word matrix = broadcast(lift[k]->matrix[o]);
        for (std::size_t i = 0; i < 2; ++i) sum[i][o] = sum[i][o] ^ affine(matrix, terms[k][p + i]);
      }
#pragma GCC unroll 8
    for (std::size_t o = 0; o < 8; ++o) {
      store(sums[p].octet[o], sum[0][o]);
      store(sums[p + 1].octet[o], sum[1][o]);
    }
  }
}

// The points of the last variable's value `top` (2: infinity), which are three
// variables' 27 each.
template <int top>
inline void bit_points_at(std::size_t factors, const Tile* tiles, const Lift& weight,
                          LaneSums*& sums) {
  constexpr std::size_t kInner = 27, kHalf = kBitSlots / 2;
  Word terms[kInner];
  for (std::size_t f = 0; f < factors; ++f) {
    auto row = [tiles](std::size_t r, std::size_t component, std::size_t s) {
      auto at = [&](const Tile& tile) { return load(tile.base + tile.row[2 * r + component]); };
      if (top == 0) return at(tiles[s]);
      const Word high = at(tiles[s + kHalf]);
      return top == 1 ? high : high ^ at(tiles[s]);
    };
    Word vertex[4][kHalf], at[4][kInner];
    for (std::size_t s = 0; s < kHalf; ++s) {
      vertex[0][s] = row(f, 0, s);
      vertex[1][s] = row(f, 1, s);
      vertex[2][s] = row(factors + f, 0, s);
      vertex[3][s] = vertex[2][s] ^ row(factors + f, 1, s);
    }
    for (int v = 0; v < 4; ++v) spread_points<3>(vertex[v], at[v]);
    for (std::size_t p = 0; p < kInner; ++p) {
      const Word one = (at[0][p] & at[3][p]) ^ (at[1][p] & at[2][p]);
      terms[p] = f == 0 ? one : terms[p] ^ one;
    }
  }
  for (std::size_t p = 0; p < kInner; ++p) {
    if (top != 2 && is_vertex<3>(p)) continue;
    for (std::size_t o = 0; o < 8; ++o)
      store(sums->octet[o], load(sums->octet[o]) ^ affine(weight.matrix[o], terms[p]));
    ++sums;
  }
}

void bit_points(std::size_t factors, const Tile* tiles, const Lift& weight,
                LaneSums sums[kBitPoints]) {
  bit_points_at<0>(factors, tiles, weight, sums);
  bit_points_at<1>(factors, tiles, weight, sums);
  bit_points_at<2>(factors, tiles, weight, sums);
}

Element lane_sum(const LaneSums& sums, const Element weight[kLanes]) {
  Word rows[8], elements[8];
  for (std::size_t o = 0; o < 8; ++o) rows[o] = load(sums.octet[o]);
  transpose(rows, elements);
  Wide total;
  for (std::size_t k = 0; k < 8; ++k) total.add(elements[k], load(weight + 8 * k));
  return horizontal_sum(reduce(total));
}

// ---- at a random point

void lift_octets(const std::vector<StrandLift>& strands, const Tile* tiles, const Element* weight,
                 Element* out) {
  Word sum[8];
  for (Word& w : sum) w = zero();
  auto at = [tiles](const StrandLift& one) { return load_strand(tiles[one.tile], one.strand); };
  std::size_t k = 0;
  for (; k + 2 <= strands.size(); k += 2) {
    const Word a = at(strands[k]), b = at(strands[k + 1]);
#pragma GCC unroll 8
    for (std::size_t o = 0; o < 8; ++o)
      sum[o] = add3(sum[o], affine(strands[k].lift.matrix[o], a),
                    affine(strands[k + 1].lift.matrix[o], b));
  }
  if (k < strands.size()) {
    const Word a = at(strands[k]);
    for (std::size_t o = 0; o < 8; ++o) sum[o] = sum[o] ^ affine(strands[k].lift.matrix[o], a);
  }
  Word elements[8];
  transpose(sum, elements);
  for (std::size_t e = 0; e < 8; ++e)
    store(out + 8 * e,
          weight == nullptr ? elements[e] : multiply(elements[e], load(weight + 8 * e)));
}

void lift_bits(const Lift lift[4], const Tile* tiles, std::size_t row, Element* out) {
  Word slots[4][8];  // of a component's half; quadword of a lane: eight slots' octets
  for (std::size_t part = 0; part < 4; ++part) {
    const std::size_t strand = 2 * row + part / 2, half = part % 2;
    Word rows[8];
    // From the highest: bit i of a result comes from octet 7 - i of the matrix.
    for (std::size_t s = 0; s < 8; ++s) {
      const Tile& tile = tiles[8 * half + s];
      rows[7 - s] = load(tile.base + tile.row[strand]);
    }
    transpose(rows, slots[part]);
  }
  for (std::size_t k = 0; k < 8; ++k) {
    // The slots as matrices; they pick bit b of each slot for octet b.
    const Word bits = broadcast(0x8040201008040201u);
    Word picked[4], sum[8];
    for (std::size_t part = 0; part < 4; ++part) picked[part] = affine(slots[part][k], bits);
    for (std::size_t o = 0; o < 8; ++o)
      sum[o] = add3(affine(lift[0].matrix[o], picked[0]) ^ affine(lift[1].matrix[o], picked[1]),
                    affine(lift[2].matrix[o], picked[2]), affine(lift[3].matrix[o], picked[3]));
    store_transposed(sum, out + 64 * k);
  }
}

void scale(std::size_t n, const Element* weight, Element factor, Element* y) {
  if (factor == 1) {  // public, as all weights are
    for (std::size_t k = 0; k < n; k += 8) store(y + k, multiply(load(y + k), load(weight + k)));
    return;
  }
  const Word all = broadcast(factor);
  for (std::size_t k = 0; k < n; k += 8)
    store(y + k, multiply(load(y + k), multiply(load(weight + k), all)));
}

Element dot(std::size_t n, const Element* a, const Element* b) {
  Wide sum;
  for (std::size_t k = 0; k < n; k += 8) sum.add(load(a + k), load(b + k));
  return horizontal_sum(reduce(sum));
}

// ---- folds

// Elements begin .. end of the parts, which stand `stride` apart: where they are gone through
// more than once, few enough to stay in the cache meanwhile.
struct Segment {
  static constexpr std::size_t kLength = 64;
  std::size_t begin, end, stride;
};

// The points of n variables at which the last n - kInner have certain values: the sums of
// these parts, and of those after them, stand at the inner variables' vertices.
template <int kInner>
void points_at(const std::vector<std::size_t>& parts, const Segment& segment, const Factors& v,
               Element* out) {
  constexpr std::size_t kParts = std::size_t{1} << kInner, kAll = points(kInner);
  Wide sum[kAll];
  for (std::size_t k = segment.begin; k < segment.end; k += 8) {
    const __mmask8 mask = first(segment.end - k);
    Word x[kParts], y[kParts], x_at[kAll], y_at[kAll];
    auto value = [&](const Element* from, std::size_t i) {
      Word total = load_first(from + (parts[0] + i) * segment.stride + k, mask);
      for (std::size_t other = 1; other < parts.size(); ++other)
        total = total ^ load_first(from + (parts[other] + i) * segment.stride + k, mask);
      return total;
    };
    for (std::size_t i = 0; i < kParts; ++i) {
      x[i] = value(v.x, i);
      y[i] = value(v.y, i);
    }
    spread_points<kInner>(x, x_at);
    spread_points<kInner>(y, y_at);
    for (std::size_t p = 0; p < kAll; ++p) sum[p].add(x_at[p], y_at[p]);
  }
  for (std::size_t p = 0; p < kAll; ++p) out[p] ^= horizontal_sum(reduce(sum[p]));
}

// Goes through the points of the outer variables, from this one down to the inner ones.
template <int kInner>
void points_outer(int variable, const std::vector<std::size_t>& parts, const Segment& segment,
                  const Factors& v, Element* out) {
  if (variable <= kInner) return points_at<kInner>(parts, segment, v, out);
  const std::size_t third = points(variable - 1), half = std::size_t{1} << (variable - 1);
  std::vector<std::size_t> moved = parts, all = parts;
  for (std::size_t& vertex : moved) vertex += half;
  all.insert(all.end(), moved.begin(), moved.end());
  points_outer<kInner>(variable - 1, parts, segment, v, out);
  points_outer<kInner>(variable - 1, moved, segment, v, out + third);
  points_outer<kInner>(variable - 1, all, segment, v, out + 2 * third);
}

void points_any(int n, std::size_t stride, const Factors& v, Element* out) {
  const std::vector<std::size_t> from_first = {0};
  for (std::size_t p = 0; p < points(n); ++p) out[p] = 0;
  const std::size_t length = n <= 3 ? stride : Segment::kLength;
  for (std::size_t k = 0; k < stride; k += length) {
    const std::size_t end = stride - k < length ? stride : k + length;
    const Segment segment = {k, end, stride};
    switch (n) {
      case 1: points_outer<1>(n, from_first, segment, v, out); break;
      case 2: points_outer<2>(n, from_first, segment, v, out); break;
      default: points_outer<3>(n, from_first, segment, v, out);
    }
  }
}

void fold(int n, std::size_t stride, const MutableFactors& v, const Element* at) {
  for (Element* one : {v.x, v.y})
    for (std::size_t k = 0; k < stride; k += 8) {
      const __mmask8 mask = first(stride - k);
      Wide sum;
      for (std::size_t i = 0; i < std::size_t{1} << n; ++i)
        sum.add(load_first(one + i * stride + k, mask), broadcast(at[i]));
      _mm512_mask_storeu_epi64(one + k, mask, reduce(sum).v);
    }
}

constexpr Kernels kAvx512 = {
    .name = "avx512",
    .multiply = multiply_one,
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

const Kernels* kernels_avx512() {
  bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
                __builtin_cpu_supports("gfni") && __builtin_cpu_supports("vpclmulqdq");
  return usable ? &kAvx512 : nullptr;
}

}  // namespace tkdc::gf64
