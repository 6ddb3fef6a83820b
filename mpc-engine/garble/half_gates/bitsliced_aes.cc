// SPDX-License-Identifier: Apache-2.0
#include "garble/half_gates/bitsliced_aes.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tkdc::garble {
namespace {

// Octet p of block b is bit 16 b + p of each plane; p = 4 column + row.
using Plane = std::uint64_t;
using Planes = std::array<Plane, 8>;

// Bit k of octet j and bit j of octet k change places: by halves, quarters, eighths of the square.
std::uint64_t transposed(std::uint64_t square) {
  const auto swap = [&](std::uint64_t where, int by) {
    const std::uint64_t differ = (square >> by ^ square) & where;
    square ^= differ ^ differ << by;
  };
  swap(0x0000'0000'f0f0'f0f0, 28);
  swap(0x0000'cccc'0000'cccc, 14);
  swap(0x00aa'00aa'00aa'00aa, 7);
  return square;
}

void slice_word(std::uint64_t word, std::size_t at, Planes& planes) {
  const std::uint64_t square = transposed(word);
  for (std::size_t k = 0; k < 8; ++k) planes[k] |= (square >> (8 * k) & 0xff) << at;
}
std::uint64_t unsliced_word(const Planes& planes, std::size_t at) {
  std::uint64_t square = 0;
  for (std::size_t k = 0; k < 8; ++k) square |= (planes[k] >> at & 0xff) << (8 * k);
  return transposed(square);
}

Planes sliced(std::span<const Label> blocks) {
  Planes planes{};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    slice_word(blocks[b].low, 16 * b, planes);
    slice_word(blocks[b].high, 16 * b + 8, planes);
  }
  return planes;
}

void unslice(const Planes& planes, std::span<Label> blocks) {
  for (std::size_t b = 0; b < blocks.size(); ++b)
    blocks[b] = {unsliced_word(planes, 16 * b), unsliced_word(planes, 16 * b + 8)};
}

// One key in the places of all blocks.
void add_key(const Label& key, Planes& state) {
  const Planes planes = sliced(std::span(&key, 1));
  for (std::size_t k = 0; k < 8; ++k) state[k] ^= planes[k] * 0x0001'0001'0001'0001;
}

// GF(2^8) modulo x^8 + x^4 + x^3 + x + 1, each octet on its own.
Planes reduced(std::array<Plane, 15> wide) {
  for (std::size_t k = 14; k >= 8; --k)
    for (const std::size_t down : {4, 5, 7, 8}) wide[k - down] ^= wide[k];
  Planes out;
  std::copy_n(wide.begin(), 8, out.begin());
  return out;
}

Planes times(const Planes& a, const Planes& b) {
  std::array<Plane, 15> wide{};
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t k = 0; k < 8; ++k) wide[i + k] ^= a[i] & b[k];
  return reduced(wide);
}

Planes squared(const Planes& a) {
  std::array<Plane, 15> wide{};
  for (std::size_t k = 0; k < 8; ++k) wide[2 * k] = a[k];
  return reduced(wide);
}

Planes squared(Planes a, int squarings) {
  while (squarings-- > 0) a = squared(a);
  return a;
}

// a^254, which is the inverse, and 0 of 0.
Planes inverse(const Planes& a) {
  const Planes a3 = times(squared(a), a), a12 = squared(a3, 2), a15 = times(a12, a3);
  const Planes a252 = times(squared(a15, 4), a12);
  return times(a252, squared(a));
}

// Section 5.1.1.
Planes sub_bytes(const Planes& state) {
  const Planes v = inverse(state);
  Planes out;
  for (std::size_t k = 0; k < 8; ++k) {
    const Plane constant = (0x63 >> k & 1) != 0 ? ~Plane{0} : Plane{0};
    out[k] = v[k] ^ v[(k + 4) % 8] ^ v[(k + 5) % 8] ^ v[(k + 6) % 8] ^ v[(k + 7) % 8] ^ constant;
  }
  return out;
}

// Section 5.1.2: row r moves r columns, 4 r bits of each 16, to the left.
Plane shift_rows(Plane plane) {
  constexpr Plane kRow = 0x1111'1111'1111'1111;
  // Bits that stay in their 16 when they move down by 4 r, and those that come in from below.
  constexpr Plane kDown[4] = {~Plane{0}, 0x0fff'0fff'0fff'0fff, 0x00ff'00ff'00ff'00ff,
                              0x000f'000f'000f'000f};
  Plane out = plane & kRow;
  for (int r = 1; r < 4; ++r) {
    const Plane row = plane & (kRow << r);
    out |= (row >> (4 * r) & kDown[r]) | (row << (16 - 4 * r) & ~kDown[r]);
  }
  return out;
}

// Of each column, the octet of the row below, around the column's border.
Plane next_row(Plane plane, int rows) {
  constexpr Plane kUpper[4] = {0, 0x7777'7777'7777'7777, 0x3333'3333'3333'3333,
                               0x1111'1111'1111'1111};
  return (plane >> rows & kUpper[rows]) | (plane << (4 - rows) & ~kUpper[rows]);
}

// Section 5.1.3: 2 a ⊕ 3 a' ⊕ a'' ⊕ a''' = 2 (a ⊕ a') ⊕ a' ⊕ a'' ⊕ a'''.
Planes mix_columns(const Planes& state) {
  std::array<Plane, 15> doubled{};
  Planes out;
  for (std::size_t k = 0; k < 8; ++k) {
    const Plane a = state[k];
    doubled[k + 1] = a ^ next_row(a, 1);
    out[k] = next_row(a, 1) ^ next_row(a, 2) ^ next_row(a, 3);
  }
  const Planes twice = reduced(doubled);
  for (std::size_t k = 0; k < 8; ++k) out[k] ^= twice[k];
  return out;
}

}  // namespace

void encrypt_sliced(const RoundKeys& keys, std::size_t instance, std::span<Label> blocks) {
  assert(blocks.size() <= kSlicedBlocks && instance < kSideBySide);
  Planes state = sliced(blocks);
  add_key(keys.of[0][instance], state);
  for (std::size_t round = 1; round <= RoundKeys::kRounds; ++round) {
    state = sub_bytes(state);
    for (Plane& plane : state) plane = shift_rows(plane);
    if (round < RoundKeys::kRounds) state = mix_columns(state);
    add_key(keys.of[round][instance], state);
  }
  unslice(state, blocks);
}

}  // namespace tkdc::garble
