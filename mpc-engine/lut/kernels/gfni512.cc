// SPDX-License-Identifier: Apache-2.0
// By AVX-512 and GFNI: four labels in a register.
//
// A masked table is a product in GF(2^8)[x_0 … x_7] / (x_k² + 1), whose monomials are the places.
// In y_k = x_k + 1 the squares are 0, so two factors' monomials meet only where they are disjoint:
// 3 products instead of 4 for each variable. x_2 … x_7 are done so; x_0 and x_1 are a register's
// labels.
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "base/cpu_features.h"
#include "lut/kernel.h"

namespace tkdc::lut {
namespace {

using Four = __m512i;

Four load(const void* from) { return _mm512_loadu_si512(from); }
void store(void* to, Four x) { _mm512_storeu_si512(to, x); }
Four add(Four a, Four b) { return _mm512_xor_si512(a, b); }
Label sum_of(Four x) {
  const __m256i two = _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
  const __m128i one = _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256(two, 1));
  Label out;
  _mm_store_si128(reinterpret_cast<__m128i*>(&out), one);
  return out;
}

Label look_up(const Label* vector, const Table& table, std::uint8_t place) {
  // Lane l gets the octet at l ⊕ (place's two low bits).
  const int turn = place & 3;
  const Four lanes = _mm512_inserti32x4(
      _mm512_inserti32x4(_mm512_inserti32x4(_mm512_set1_epi8(static_cast<char>(turn)),
                                            _mm_set1_epi8(static_cast<char>(1 ^ turn)), 1),
                         _mm_set1_epi8(static_cast<char>(2 ^ turn)), 2),
      _mm_set1_epi8(static_cast<char>(3 ^ turn)), 3);
  Four sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  for (std::size_t j = 0; j < kPlaces; j += 8)
    for (std::size_t half = 0; half < 2; ++half) {
      int octets;
      std::memcpy(&octets, &table[(place ^ (j + 4 * half)) & ~std::size_t{3}], sizeof octets);
      const Four factors = _mm512_shuffle_epi8(_mm512_set1_epi32(octets), lanes);
      sums[half] = add(sums[half], _mm512_gf2p8mul_epi8(load(vector + j + 4 * half), factors));
    }
  return sum_of(add(sums[0], sums[1]));
}

constexpr std::size_t kRegisters = kPlaces / 4, kTurns = 4;

// x into y, and back.
void change_basis(Four* registers) {
  for (std::size_t bit = 1; bit < kRegisters; bit *= 2)
    for (std::size_t k = 0; k < kRegisters; ++k)
      if ((k & bit) == 0) registers[k] = add(registers[k], registers[k | bit]);
}

// A table in y, as expand() needs it.
struct Coefficients {
  std::uint8_t of[kRegisters][kTurns];
  explicit Coefficients(const Table& table) {
    std::memcpy(of, table.data(), sizeof of);
    for (std::size_t bit = 1; bit < kRegisters; bit *= 2)
      for (std::size_t k = 0; k < kRegisters; ++k)
        if ((k & bit) == 0)
          for (std::size_t l = 0; l < kTurns; ++l) of[k][l] ^= of[k | bit][l];
  }
};

void expand(const Label* vector, const Table& table, Label* out) {
  const Coefficients coefficients(table);
  alignas(64) Four turned[kRegisters][kTurns], sums[kRegisters];
  for (std::size_t k = 0; k < kRegisters; ++k) {
    sums[k] = load(vector + 4 * k);
  }
  change_basis(sums);
  for (std::size_t k = 0; k < kRegisters; ++k) {
    turned[k][0] = sums[k];
    turned[k][1] = _mm512_shuffle_i64x2(sums[k], sums[k], 0xb1);
    turned[k][2] = _mm512_shuffle_i64x2(sums[k], sums[k], 0x4e);
    turned[k][3] = _mm512_shuffle_i64x2(sums[k], sums[k], 0x1b);
    sums[k] = _mm512_setzero_si512();
  }
  for (std::size_t a = 0; a < kRegisters; ++a) {
    Four factors[kTurns];
    for (std::size_t l = 0; l < kTurns; ++l)
      factors[l] = _mm512_set1_epi8(static_cast<char>(coefficients.of[a][l]));
    // All b without a place of a, from the largest to 0.
    const std::size_t free = kRegisters - 1 - a;
    for (std::size_t b = free;; b = (b - 1) & free) {
      const Four first = add(_mm512_gf2p8mul_epi8(turned[b][0], factors[0]),
                             _mm512_gf2p8mul_epi8(turned[b][1], factors[1])),
                 second = add(_mm512_gf2p8mul_epi8(turned[b][2], factors[2]),
                              _mm512_gf2p8mul_epi8(turned[b][3], factors[3]));
      sums[a | b] = _mm512_ternarylogic_epi64(sums[a | b], first, second, 0x96);
      if (b == 0) break;
    }
  }
  change_basis(sums);
  for (std::size_t k = 0; k < kRegisters; ++k) store(out + 4 * k, sums[k]);
  sodium_memzero(turned, sizeof turned);
  sodium_memzero(sums, sizeof sums);
}

// Eight octets e as eight matrices: row i of one has bit i ⊕ j of e at place j. GFNI counts rows
// from the other end, so octet p of a matrix is e with its bits at j ⊕ (7 − p).
Four matrices_of(std::uint64_t eight) {
  Four x = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(static_cast<long long>(eight)));
  x = _mm512_shuffle_epi8(x, _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0));
  const auto swapped = [&](unsigned by, std::uint8_t low, __mmask64 where) {
    const Four mask = _mm512_set1_epi8(static_cast<char>(low));
    const Four turned = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi64(x, by), mask),
                                        _mm512_slli_epi64(_mm512_and_si512(x, mask), by));
    x = _mm512_mask_mov_epi8(x, where, turned);
  };
  swapped(1, 0x55, 0x5555555555555555);
  swapped(2, 0x33, 0x3333333333333333);
  swapped(4, 0x0f, 0x0f0f0f0f0f0f0f0f);
  return x;
}

// Places 8 h … 8 h + 7 of a table as eight planes of a word: octet k has their bits k.
void planes_of(const Table& table, std::uint64_t (&out)[kPlaces / 8]) {
  for (std::size_t h = 0; h < kPlaces / 8; ++h) {
    out[h] = 0;
    for (std::size_t place = 0; place < 8; ++place)
      for (std::size_t k = 0; k < 8; ++k)
        out[h] |= std::uint64_t{table[8 * h + place] >> k & 1u} << (8 * k + place);
  }
}

// Planes in the order h ⊕ t, for each t below 8.
struct Planes {
  static constexpr std::size_t kWords = kPlaces / 8;
  alignas(64) std::uint64_t of[8][kWords];
  explicit Planes(const Table& table) {
    std::uint64_t plain[kWords];
    planes_of(table, plain);
    for (std::size_t t = 0; t < 8; ++t)
      for (std::size_t h = 0; h < kWords; ++h) of[t][h] = plain[h ^ t];
  }
};

void expand_one(const std::uint8_t* vector, const Planes& planes, std::uint8_t* out) {
  alignas(64) std::uint64_t matrices[Planes::kWords];
  for (std::size_t k = 0; k < Planes::kWords; k += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, vector + k, sizeof eight);
    store(&matrices[k], matrices_of(eight));
  }
  Four sums[4] = {};
  for (std::size_t j = 0; j < Planes::kWords; ++j) {
    const Four matrix = _mm512_set1_epi64(static_cast<long long>(matrices[j]));
    for (std::size_t r = 0; r < 4; ++r)
      sums[r] = add(sums[r], _mm512_gf2p8affine_epi64_epi8(load(&planes.of[j % 8][8 * (r ^ j / 8)]),
                                                           matrix, 0));
  }
  // Planes to octets: the affine map by a square of bits, of the unit vectors, is its transpose,
  // which counts octets from the other end.
  const Four units = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201)),
             backwards = _mm512_broadcast_i32x4(
                 _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  for (std::size_t r = 0; r < 4; ++r)
    store(out + 64 * r,
          _mm512_gf2p8affine_epi64_epi8(units, _mm512_shuffle_epi8(sums[r], backwards), 0));
  sodium_memzero(matrices, sizeof matrices);
}

void expand_shares(const std::uint8_t* vectors, std::size_t count, const Table& table,
                   std::uint8_t* out) {
  const Planes planes(table);
  for (std::size_t k = 0; k < count; ++k)
    expand_one(vectors + k * (kPlaces / 8), planes, out + k * kPlaces);
}

Label dot(const Label* labels, const std::uint8_t* factors, std::size_t count) {
  const Four lanes = _mm512_set_epi32(0x03030303, 0x03030303, 0x03030303, 0x03030303, 0x02020202,
                                      0x02020202, 0x02020202, 0x02020202, 0x01010101, 0x01010101,
                                      0x01010101, 0x01010101, 0, 0, 0, 0);
  Four sum = _mm512_setzero_si512();
  for (std::size_t k = 0; k < count; k += 4) {
    int octets;
    std::memcpy(&octets, factors + k, sizeof octets);
    sum = add(sum, _mm512_gf2p8mul_epi8(load(labels + k),
                                        _mm512_shuffle_epi8(_mm512_set1_epi32(octets), lanes)));
  }
  return sum_of(sum);
}

void finish_round(const Label* in, const Label* key, bool last, Label* out) {
  const Four two = _mm512_set1_epi8(2);
  Four columns[4];
  for (std::size_t c = 0; c < 4; ++c) {
    const auto row = [&](std::size_t r) {
      return _mm_load_si128(reinterpret_cast<const __m128i*>(&in[4 * ((c + r) % 4) + r]));
    };
    columns[c] = _mm512_inserti32x4(
        _mm512_inserti32x4(_mm512_inserti32x4(_mm512_castsi128_si512(row(0)), row(1), 1), row(2),
                           2),
        row(3), 3);
  }
  for (std::size_t c = 0; c < 4; ++c) {
    const Four x = columns[c];
    Four y = x;
    if (!last) {
      const Four next = _mm512_shuffle_i64x2(x, x, 0x39), pair = add(x, next);
      y = _mm512_ternarylogic_epi64(_mm512_gf2p8mul_epi8(pair, two), next,
                                    _mm512_shuffle_i64x2(pair, pair, 0x4e), 0x96);
    }
    store(out + 4 * c, add(y, load(key + 4 * c)));
  }
}

// Four states in a register.
void finish_shares(std::uint8_t* states, std::size_t count, const std::uint8_t* key, bool last) {
  const auto all = [](__m128i of) { return _mm512_broadcast_i32x4(of); };
  const Four rows = all(_mm_setr_epi8(0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11)),
             round_key = all(_mm_loadu_si128(reinterpret_cast<const __m128i*>(key))),
             two = _mm512_set1_epi8(2);
  for (std::size_t k = 0; k < count; k += 4) {
    const std::size_t some = 16 * std::min<std::size_t>(4, count - k);
    const __mmask64 there = some == 64 ? ~__mmask64{0} : (__mmask64{1} << some) - 1;
    const Four x = _mm512_shuffle_epi8(_mm512_maskz_loadu_epi8(there, states + 16 * k), rows);
    Four y = x;
    if (!last) {
      const Four next = _mm512_ror_epi32(x, 8), pair = add(x, next);
      y = _mm512_ternarylogic_epi64(_mm512_gf2p8mul_epi8(pair, two), next,
                                    _mm512_ror_epi32(pair, 16), 0x96);
    }
    _mm512_mask_storeu_epi8(states + 16 * k, there, add(y, round_key));
  }
}

constexpr Kernel kKernel = {"gfni512", look_up,      expand,       expand_shares,
                            dot,       finish_round, finish_shares};

}  // namespace

const Kernel* kernel_gfni512() {
  const bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && cpu_has_gfni();
  return usable ? &kKernel : nullptr;
}

}  // namespace tkdc::lut
