// SPDX-License-Identifier: Apache-2.0
// The lift of a check's lanes at a random point (rep3/verify/octet_check.h, step 3), and its folds
// (rep3/verify/inner_product.h).
#pragma once

#include "cuda/block/check_tasks.h"
#include "cuda/thread/slice.h"
#include "cuda/thread/spread.h"

namespace tkdc::cuda::check {

// rep3/verify/gf64.h's lane_at() the other way around.
TKDC_HD constexpr std::uint32_t position_of(std::uint32_t lane) {
  return lane / 8 % 2 * 32 + lane / 2 % 4 * 8 + lane / 16 * 2 + lane % 2;
}

enum class Side : std::uint8_t { kX, kY, kZ };

// A thread has eight lanes of one block.
template <Side kSide>
struct Lift : TaskBody {
  static constexpr std::uint32_t kPairs = kLaneWords / 2;
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const auto& task = task_of<LiftTask>(v);
    const std::uint32_t pair = t % kPairs, block = t / kPairs;
    const Word* rows = task.rows.words + std::size_t{block} * task.rows.block_words + 2 * pair;
    FourElements sum[2] = {};
    for (std::uint32_t k = 0; k < task.count; ++k) {
      const StrandMap& one = task.maps[k];
      const Word* at = rows + one.tile * task.rows.tile_words + one.strand * kLaneWords;
      const Word words[2] = {at[0], at[1]};
      add_images(words, one.map, sum);
    }
    Wide total = {0, 0};
    TKDC_UNROLL
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t lane = 8 * pair + static_cast<std::uint32_t>(i);
      const Element e = element_of(sum[i / 4], i % 4);
      Element* out = task.out + (std::size_t{block} * task.factors + task.factor) * kCheckLanes;
      if constexpr (kSide == Side::kX) out[position_of(lane)] = e;
      if constexpr (kSide == Side::kY)
        out[position_of(lane)] = multiply(multiply(e, task.sigma[lane]), task.of_block[block]);
      if constexpr (kSide == Side::kZ) total.add(e, task.sigma[lane]);
    }
    if constexpr (kSide == Side::kZ) task.out[t] = multiply(total.reduced(), task.of_block[block]);
  }
};

// Of bits: a thread has a word of lanes of one block, 32 elements.
template <Side kSide>
struct LiftBits : TaskBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const auto& task = task_of<LiftBitsTask>(v);
    const std::uint32_t word = t % kLaneWords, block = t / kLaneWords;
    const Word* rows = task.rows.words + std::size_t{block} * task.rows.block_words + word;
    FourElements sum[8] = {};
    TKDC_UNROLL
    for (std::uint32_t eight = 0; eight < 4; ++eight) {  // component, half of the slots
      const std::uint32_t strand = 2 * task.row + eight / 2;
      Word slots[8];
      TKDC_UNROLL
      for (std::uint32_t s = 0; s < 8; ++s)
        slots[s] =
            rows[std::size_t{8 * (eight % 2) + s} * task.rows.tile_words + strand * kLaneWords];
      slice(slots);  // a bit of the lanes in each word, a slot in each bit
      add_images(slots, task.maps + eight * kMapQuads, sum);
    }
    Element* out = task.out + (std::size_t{block} * task.factors + task.factor) * 8 * kCheckLanes;
    TKDC_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t lane = position_of(4 * word + static_cast<std::uint32_t>(i));
      TKDC_UNROLL
      for (std::uint32_t bit = 0; bit < 8; ++bit) {
        // rep3/verify/gf64.h's lane_bit_at() the other way around.
        const std::uint32_t at = lane / 8 * kCheckLanes + position_of(lane % 8 * 8 + bit);
        Element e = element_of(sum[bit], i);
        if constexpr (kSide == Side::kY)
          e = multiply(multiply(e, task.of_lane[at]), task.of_block[block]);
        out[at] = e;
      }
    }
  }
};

TKDC_HD Element part_of(const FoldTask& task, int vector, std::uint32_t part, std::uint32_t k) {
  const std::uint32_t at = part * task.stride + k;
  return at < task.count ? task.vector[vector][at] : 0;
}

// Sums at {0, 1, infinity}^2, of every threads()-th element.
struct FoldPoints : TaskBody {
  static constexpr std::uint32_t kPoints = kPointsOfFour, kPerThread = 4;
  static std::uint32_t threads_of(std::uint32_t stride) {
    return (stride + kPerThread - 1) / kPerThread;
  }
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const auto& task = task_of<FoldTask>(v);
    Wide sum[kPoints] = {};
    for (std::uint32_t k = t; k < task.stride; k += v.blocks) {
      Element at[2][kPoints];
      TKDC_UNROLL
      for (int side = 0; side < 2; ++side) {
        Element part[4];
        TKDC_UNROLL
        for (std::uint32_t i = 0; i < 4; ++i) part[i] = part_of(task, side, i, k);
        spread_four(part, at[side]);
      }
      TKDC_UNROLL
      for (std::uint32_t p = 0; p < kPoints; ++p) sum[p].add(at[0][p], at[1][p]);
    }
    TKDC_UNROLL
    for (std::uint32_t p = 0; p < kPoints; ++p)
      task.sums[std::size_t{t} * kPoints + p] = sum[p].reduced();
  }
};

// A thread has one element of one vector; it alone reads what it overwrites.
struct Fold : TaskBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const auto& task = task_of<FoldTask>(v);
    const int side = t >= task.stride;
    const std::uint32_t k = side ? t - task.stride : t;
    Wide sum = {0, 0};
    TKDC_UNROLL
    for (std::uint32_t part = 0; part < 4; ++part)
      sum.add(part_of(task, side, part, k), task.at[part]);
    task.vector[side][k] = sum.reduced();
  }
};

// The two ways of a product, side by side.
struct Product : TaskBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const auto& task = task_of<ProductTask>(v);
    static_cast<Element*>(task.out)[t] =
        multiply(static_cast<const Element*>(task.a)[t], static_cast<const Element*>(task.b)[t]);
  }
};
struct ProductOfPlanes : TaskBody {  // 64 words of 32 elements each
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const auto& task = task_of<ProductTask>(v);
    const std::size_t at = std::size_t{64} * t;
    multiply_planes(static_cast<const Word*>(task.a) + at, static_cast<const Word*>(task.b) + at,
                    static_cast<Word*>(task.out) + at);
  }
};

}  // namespace tkdc::cuda::check
