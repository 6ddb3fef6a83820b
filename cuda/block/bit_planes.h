// SPDX-License-Identifier: Apache-2.0
// SHA-1's compressions in the shape of the fewest bits, as rep3/unit/bits/bit_planes.h packs their
// messages: bit after bit, product after product, with no gap between the products' columns.
//
// Round takes 32 columns of one component, whose planes no other thread touches; Pack a word of
// the message, which may have columns of several products. Bits behind the last column are 0 in
// every plane and factor.
#pragma once

#include "cuda/block/view.h"
#include "cuda/thread/sbox_layers.h"
#include "cuda/thread/transpose.h"
#include "rep3/unit/sha1/ripple_planes.h"

namespace tkdc::cuda::bits {

// Of columns: 64 octets of a block and 20 of the state before it; 20 of the state after.
inline constexpr std::uint32_t kWordsIn = sha1::kScheduleWords + sha1::kStateWords;
inline constexpr std::uint32_t kWordsOut = sha1::kStateWords;

// 32 bits from bit `at` on; the word behind the last one is read too, unless 32 divides `at`.
TKDC_HD Word bits_at(const Word* from, std::uint32_t at) {
  const Word low = from[at / 32] >> at % 32;
  return at % 32 == 0 ? low : low | from[at / 32 + 1] << (32 - at % 32);
}

// Which of the bits of word `w` are columns.
TKDC_HD Word columns_of(const View& v, std::uint32_t w) {
  const std::uint32_t rest = v.blocks - 32 * w;
  return rest >= 32 ? ~Word{0} : (Word{1} << rest) - 1;
}

TKDC_HD Word* factor(const BitView& b, std::uint32_t component, std::uint32_t side,
                     std::uint32_t product) {
  const std::uint32_t row = (2 * component + side) * BitProgram::kMostProducts + product;
  return b.factors + std::size_t{row} * b.stride;
}

// One component's word of every plane.
struct Column {
  TKDC_HD Column(const View& v, std::uint32_t component, std::uint32_t w)
      : first(v.bits.planes + std::size_t{component} * v.bits.stride + w),
        pitch(2 * std::size_t{v.bits.stride}) {}
  TKDC_HD Word& plane(std::uint32_t number) const { return first[number * pitch]; }

  Word* first;
  std::size_t pitch;
};

// Takes what the round before sent and got, then this round's sums; factors are put down.
struct Round : Alone {
  static std::uint32_t threads(const View& v) { return 2 * v.bits.words; }
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const BitView& b = v.bits;
    const BitProgram& program = *b.program;
    const std::uint32_t absorbs = program.absorbs, ops = program.ops;
    const std::uint32_t c = t >= b.words, w = c ? t - b.words : t;
    const Column column(v, c, w);
    const Word* result = c ? v.theirs[0] : v.mine[0];
    for (std::uint32_t p = 0; p < absorbs; ++p)
      column.plane(program.into[p]) ^= bits_at(result, p * v.blocks + 32 * w) & columns_of(v, w);
    for (std::uint32_t k = 0; k < ops; ++k) {
      const BitOp op = program.op[k];  // once: stores might change it
      const Word left = column.plane(op.of[0]) ^ column.plane(op.of[1]);
      const Word right = column.plane(op.of[2]) ^ column.plane(op.of[3]);
      if (op.product) {
        factor(b, c, 0, op.to)[w] = left;
        factor(b, c, 1, op.to)[w] = right;
      } else {
        column.plane(op.to) = left ^ right;
      }
    }
  }
};

// A product's part of the 32 bits from `first` on; its own begin at `start`.
TKDC_HD Word part_of(const Word* columns, std::uint32_t start, std::uint32_t first) {
  return start <= first ? bits_at(columns, first - start) : columns[0] << (start - first);
}

// The party's terms of all products, close together; and the factors, for the claims.
struct Pack : Alone {
  static std::uint32_t threads(const View& v) { return (v.message_octets[0] + 3) / 4; }
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t m, const Shared&) {
    const BitView& b = v.bits;
    const std::uint32_t first = 32 * m, products = b.program->products;
    Pair x{0, 0}, y{0, 0};
    for (std::uint32_t p = first / v.blocks; p < products && p * v.blocks < first + 32; ++p) {
      const std::uint32_t start = p * v.blocks;
      x.x |= part_of(factor(b, 0, 0, p), start, first);
      x.y |= part_of(factor(b, 1, 0, p), start, first);
      y.x |= part_of(factor(b, 0, 1, p), start, first);
      y.y |= part_of(factor(b, 1, 1, p), start, first);
    }
    v.mine[0][m] = terms_of(x, y);
    if (b.packed[0][0] == nullptr) return;
    b.packed[0][0][m] = x.x;
    b.packed[0][1][m] = y.x;
    b.packed[1][0][m] = x.y;
    b.packed[1][1][m] = y.y;
  }
};

// Which 32 columns, component and word of them thread t has, of `words` each.
struct Seat {
  TKDC_HD Seat(std::uint32_t t, std::uint32_t words)
      : group(t / (2 * words)), component(t / words % 2), word(t % words) {}
  std::uint32_t group, component, word;
};

// Blocks and states as they come, to what PlaneMachine starts from; and the plane of ones.
struct Slice : Alone {
  static std::uint32_t threads(const View& v) { return 2 * (kWordsIn + 1) * v.bits.words; }
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(t, kWordsIn + 1);
    const Column column(v, s.component, s.group);
    if (s.word == kWordsIn) {
      const bool carries = static_cast<int>(s.component) == v.constant;
      column.plane(sha1::kPlaneOfOnes) = carries ? columns_of(v, s.group) : 0;
      return;
    }
    Word w[32];
    TKDC_UNROLL
    for (std::uint32_t i = 0; i < 32; ++i) {
      const std::uint32_t at = 32 * s.group + i;
      const Word* from = v.octets[s.component] + std::size_t{at} * kWordsIn + s.word;
      w[i] = at < v.blocks ? swap_octets(*from) : 0;
    }
    transpose(w);
    if (s.word < sha1::kScheduleWords) return put(column, sha1::kPlanesOfW, s.word, 0, w);
    const std::uint32_t word = s.word - sha1::kScheduleWords;
    put(column, sha1::kPlanesOfState, word, 0, w);
    put(column, sha1::kPlanesOfA, sha1::kWordsOfA - 1u - word, word < 2 ? 0 : 2, w);
  }

 private:
  // Rotated to the left.
  TKDC_HD static void put(const Column& column, std::uint32_t first, std::uint32_t word,
                          std::uint32_t rotated, const Word (&w)[32]) {
    TKDC_UNROLL
    for (std::uint32_t k = 0; k < 32; ++k)
      column.plane(first + sha1::kWordPlanes * word + (k + rotated) % 32) = w[k];
  }
};

struct Unslice : Alone {
  static std::uint32_t threads(const View& v) { return 2 * kWordsOut * v.bits.words; }
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(t, kWordsOut);
    const Column column(v, s.component, s.group);
    Word w[32];
    TKDC_UNROLL
    for (std::uint32_t k = 0; k < 32; ++k)
      w[k] = column.plane(sha1::kPlanesOfState + sha1::kWordPlanes * s.word + k);
    transpose(w);
    TKDC_UNROLL
    for (std::uint32_t i = 0; i < 32; ++i) {
      const std::uint32_t at = 32 * s.group + i;
      if (at < v.blocks)
        v.octets[s.component][std::size_t{at} * kWordsOut + s.word] = swap_octets(w[i]);
    }
  }
};

}  // namespace tkdc::cuda::bits
