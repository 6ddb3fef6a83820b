// SPDX-License-Identifier: Apache-2.0
// The sums that open a check (rep3/verify/octet_check.h, step 2): factors at the extra points,
// their products, which are lifted, weighted and added up. Planes of 32 lanes between the field's
// products, words of octets between kernels.
#pragma once

#include "cuda/block/check_tasks.h"
#include "cuda/thread/octet_field.h"
#include "cuda/thread/spread.h"

namespace tkdc::cuda::check {

// Four threads have one row of 32 lanes: eight slots each. A thread block has 32 rows, and all
// threads of a warp the same slots.
template <bool kMultiply>
struct Extend {
  static constexpr std::uint32_t kRows = 32, kParts = 4;
  static_assert(kRows * kParts == kThreadsPerBlock);
  static constexpr int kPhases = 3;
  struct Shared {
    Word plane[kVertices][8][kRows];
  };
  static std::uint32_t threads(const View& v) { return v.blocks; }
  TKDC_HD static void prepare(const View&, const Tick&, std::uint32_t, Shared&) {}

  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, Shared& shared, int phase) {
    const auto& task = task_of<ExtendTask>(v);
    const std::uint32_t row = t % kRows, part = t / kRows % kParts;
    const std::uint32_t of_all = t / kThreadsPerBlock * kRows + row;
    if (of_all >= 2 * task.rows.blocks) return;
    if (phase == 0) return first(task, of_all, part, row, shared);
    if (phase == 1) return middle(part, row, shared);
    last(task, of_all, part, row, shared);
  }

 private:
  TKDC_HD static void first(const ExtendTask& task, std::uint32_t of_all, std::uint32_t part,
                            std::uint32_t row, Shared& shared) {
    Planes v[8];
    TKDC_UNROLL
    for (std::uint32_t k = 0; k < 8; ++k) load_slot(task, of_all, 8 * part + k, v[k]);
    transform_eight<true>(part, v);
    put(v, 8 * part, row, shared);
  }

  TKDC_HD static void middle(std::uint32_t part, std::uint32_t row, Shared& shared) {
    TKDC_UNROLL
    for (std::uint32_t i = 0; i < 2; ++i) {
      const std::uint32_t first = 2 * part + i;
      Planes v[4];
      TKDC_UNROLL
      for (std::uint32_t k = 0; k < 4; ++k) {
        TKDC_UNROLL
        for (int bit = 0; bit < 8; ++bit) v[k][bit] = shared.plane[first + 8 * k][bit][row];
      }
      transform_four(v);
      TKDC_UNROLL
      for (std::uint32_t k = 0; k < 4; ++k) {
        TKDC_UNROLL
        for (int bit = 0; bit < 8; ++bit) shared.plane[first + 8 * k][bit][row] = v[k][bit];
      }
    }
  }

  TKDC_HD static void last(const ExtendTask& task, std::uint32_t of_all, std::uint32_t part,
                           std::uint32_t row, Shared& shared) {
    Planes v[8];
    TKDC_UNROLL
    for (std::uint32_t k = 0; k < 8; ++k) {
      TKDC_UNROLL
      for (int bit = 0; bit < 8; ++bit) v[k][bit] = shared.plane[8 * part + k][bit][row];
    }
    transform_eight<false>(part, v);
    TKDC_UNROLL
    for (std::uint32_t k = 0; k < 8; ++k) {
      const std::uint32_t point = 8 * part + k;
      Word* x = task.x + ((std::size_t{of_all} / kRows * kVertices + point) * 8) * kRows + row;
      if constexpr (!kMultiply) {
        TKDC_UNROLL
        for (int bit = 0; bit < 8; ++bit) x[bit * kRows] = v[k][bit];
      } else if (point != kOctetPoints) {  // the last is one more than needed
        Planes a, product;
        TKDC_UNROLL
        for (int bit = 0; bit < 8; ++bit) a[bit] = x[bit * kRows];
        multiply_octets(a, v[k], product);
        slice(product);
        const std::size_t block = of_all / 2;
        Word* out = task.terms +
                    ((block * task.products + task.product) * kOctetPoints + point) * kLaneWords +
                    8 * (of_all % 2);
        TKDC_UNROLL
        for (int w = 0; w < 8; ++w) out[w] = product[w];
      }
    }
  }

  // The sum of the slot's maps.
  TKDC_HD static void load_slot(const ExtendTask& task, std::uint32_t of_all, std::uint32_t slot,
                                Planes& out) {
    const CheckRows& rows = task.rows;
    const Word* tile = rows.words + std::size_t{of_all} / 2 * rows.block_words +
                       slot / task.slots * rows.tile_words + 8 * (of_all % 2);
    const std::uint32_t which = slot % task.slots;
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k) out[k] = 0;
    for (std::uint32_t m = task.first_map[which]; m < task.first_map[which + 1]; ++m) {
      const RowMapMasks& map = task.maps[m];
      Planes in;
      TKDC_UNROLL
      for (int w = 0; w < 8; ++w) in[w] = tile[map.row * kLaneWords + w];
      slice(in);
      TKDC_UNROLL
      for (int k = 0; k < 8; ++k) {
        const Quad half[2] = {map.mask[2 * k], map.mask[2 * k + 1]};
        TKDC_UNROLL
        for (int b = 0; b < 8; ++b) out[k] ^= in[b] & half[b / 4].word[b % 4];
      }
    }
  }

  TKDC_HD static void put(const Planes (&v)[8], std::uint32_t first, std::uint32_t row,
                          Shared& shared) {
    TKDC_UNROLL
    for (std::uint32_t k = 0; k < 8; ++k) {
      TKDC_UNROLL
      for (int bit = 0; bit < 8; ++bit) shared.plane[first + k][bit][row] = v[k][bit];
    }
  }
};

// Slots are vertices of four variables. A thread has a word of lanes and one of the nine points of
// the last two variables, where it has the nine of the first two.
struct BitPoints : TaskBody {
  static constexpr std::uint32_t kThreadsOfBlock = kLaneWords * kPointsOfFour;
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const auto& task = task_of<BitPointsTask>(v);
    const std::uint32_t word = t % kLaneWords, outer = t / kLaneWords % kPointsOfFour;
    const std::uint32_t block = t / kThreadsOfBlock;
    const Word* rows = task.rows.words + std::size_t{block} * task.rows.block_words + word;
    Word terms[kPointsOfFour] = {};
    for (std::uint32_t f = 0; f < task.factors; ++f) {
      const std::uint32_t x = 2 * f, y = 2 * (task.factors + f);  // strands
      Word at[4][4] = {}, spread[4][kPointsOfFour];  // x_i, x_{i+1}, y_i, y_i + y_{i+1}
      load(rows, task.rows.tile_words, x, outer, at[0]);
      load(rows, task.rows.tile_words, x + 1, outer, at[1]);
      load(rows, task.rows.tile_words, y, outer, at[2]);
      load(rows, task.rows.tile_words, y + 1, outer, at[3]);
      TKDC_UNROLL
      for (int k = 0; k < 4; ++k) at[3][k] ^= at[2][k];
      TKDC_UNROLL
      for (int k = 0; k < 4; ++k) spread_four(at[k], spread[k]);
      TKDC_UNROLL
      for (std::uint32_t p = 0; p < kPointsOfFour; ++p)
        terms[p] ^= (spread[0][p] & spread[3][p]) ^ (spread[1][p] & spread[2][p]);
    }
    store(terms, outer,
          task.terms + (std::size_t{block} * kBitPoints + first_of(outer)) * kLaneWords + word);
  }

 private:
  // A point is a vertex if neither coordinate is infinity.
  TKDC_HD static constexpr bool is_vertex(std::uint32_t point) {
    return point % 3 != 2 && point / 3 != 2;
  }
  TKDC_HD static constexpr std::uint32_t first_of(std::uint32_t outer) {
    std::uint32_t first = 0;
    for (std::uint32_t before = 0; before < outer; ++before)
      first += is_vertex(before) ? kPointsOfFour - 4 : kPointsOfFour;
    return first;
  }
  // At the outer point, of the first two variables' vertices. At infinity it is the sum.
  TKDC_HD static void load(const Word* rows, std::uint32_t tile_words, std::uint32_t strand,
                           std::uint32_t outer, Word (&out)[4]) {
    const std::uint32_t last[2] = {outer % 3, outer / 3};
    for (std::uint32_t vertex = 0; vertex < 4; ++vertex) {
      if (last[0] != 2 && last[0] != (vertex & 1)) continue;
      if (last[1] != 2 && last[1] != vertex >> 1) continue;
      TKDC_UNROLL
      for (std::uint32_t k = 0; k < 4; ++k)
        out[k] ^= rows[std::size_t{4 * vertex + k} * tile_words + strand * kLaneWords];
    }
  }
  // Vertices are not sent.
  TKDC_HD static void store(const Word (&terms)[kPointsOfFour], std::uint32_t outer, Word* out) {
    TKDC_UNROLL
    for (std::uint32_t p = 0; p < kPointsOfFour; ++p) {
      if (is_vertex(outer) && is_vertex(p)) continue;
      *out = terms[p];
      out += kLaneWords;
    }
  }
};

// A thread has two words of lanes of one point and chunk.
struct Sums : TaskBody {
  static constexpr std::uint32_t kPairs = kLaneWords / 2;
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const auto& task = task_of<SumTask>(v);
    const std::uint32_t pair = t % kPairs, point = t / kPairs % task.points;
    const std::uint32_t chunk = t / (kPairs * task.points);
    FourElements sum[2] = {};
    const std::uint32_t begin = chunk * kChunkBlocks;
    for (std::uint32_t block = begin; block < begin + kChunkBlocks && block < task.blocks; ++block)
      for (std::uint32_t k = 0; k < task.products; ++k) {
        const Word* term =
            task.terms +
            ((std::size_t{block} * task.products + k) * task.points + point) * kLaneWords +
            2 * pair;
        const Word words[2] = {term[0], term[1]};
        add_images(words,
                   task.weights + (block % kSetBlocks * task.claims + task.claim_of[k]) * kMapQuads,
                   sum);
      }
    Word* out = task.sums + (std::size_t{chunk} * task.points + point) * 8 * kLaneWords + 2 * pair;
    TKDC_UNROLL
    for (std::uint32_t o = 0; o < 8; ++o) {
      TKDC_UNROLL
      for (int i = 0; i < 2; ++i) out[o * kLaneWords + static_cast<std::uint32_t>(i)] = sum[i][o];
    }
  }
};

// A thread has four lanes of one point and set.
struct LaneSums : TaskBody {
  static constexpr std::uint32_t kChunks = kSetBlocks / kChunkBlocks;
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const auto& task = task_of<LaneSumTask>(v);
    const std::uint32_t point = t % task.points, word = t / task.points % kLaneWords;
    const std::uint32_t set = t / (task.points * kLaneWords);
    FourElements sum = {};
    for (std::uint32_t chunk = set * kChunks; chunk < (set + 1) * kChunks && chunk < task.chunks;
         ++chunk) {
      const Word* in =
          task.sums + (std::size_t{chunk} * task.points + point) * 8 * kLaneWords + word;
      TKDC_UNROLL
      for (std::uint32_t o = 0; o < 8; ++o) sum[o] ^= in[o * kLaneWords];
    }
    Wide total = {0, 0};
    TKDC_UNROLL
    for (int i = 0; i < 4; ++i)
      total.add(element_of(sum, i), task.sigma[4 * word + static_cast<std::uint32_t>(i)]);
    task.out[t] = multiply(total.reduced(), task.of_set[set]);
  }
};

struct Reduce : TaskBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const auto& task = task_of<ReduceTask>(v);
    const std::uint32_t column = t % task.width, begin = t / task.width * kReduceRows;
    Element sum = 0;
    for (std::uint32_t row = begin; row < begin + kReduceRows && row < task.rows; ++row)
      sum ^= task.in[std::size_t{row} * task.width + column];
    task.out[t] = sum;
  }
};

}  // namespace tkdc::cuda::check
