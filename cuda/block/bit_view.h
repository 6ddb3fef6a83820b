// SPDX-License-Identifier: Apache-2.0
// What kernels on bit planes are given beside the rest of a View: planes by number, and a
// program, what RippleSchedule (rep3/unit/sha1) says of a round. Columns are the View's `blocks`.
//
// A program stands in device memory and changes from round to round; it is public. Its sums and
// products are the same for all columns, so a graph is captured once for all rounds of as many
// products. What planes, factors and packed rows hold is secret.
#pragma once

#include "cuda/thread/host_device.h"

namespace tkdc::cuda {

// A sum: plane `to` = all four. A product: the factors are the first two and the last two; `to`
// is its number in the round.
struct alignas(4) BitOp {
  std::uint16_t to, of[4], product;
};

struct BitProgram {
  static constexpr std::uint32_t kMostOps = 80, kMostProducts = 32;
  std::uint32_t absorbs;              // products of the round before, from the messages,
  std::uint32_t ops;                  // then these in order,
  std::uint32_t products;             // among them so many products
  std::uint16_t into[kMostProducts];  // planes that absorbed products are added to
  BitOp op[kMostOps];
};

struct BitView {
  std::uint32_t words;        // 32 columns each
  std::uint32_t stride;       // from a plane's component to the next: words, and one that is 0
  Word* planes;               // [plane][component]
  Word* factors;              // [component][x, y][product], a plane each
  Word* packed[2][2];         // [component][x, y] as they are claimed; null without claims
  const BitProgram* program;  // this round's
};

}  // namespace tkdc::cuda
