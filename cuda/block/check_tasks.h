// SPDX-License-Identifier: Apache-2.0
// What the kernels of malicious mode's check are given: a task in device memory, which
// View::task points to; View::blocks is how many threads it takes. mpc-engine/rep3/verify/ has the
// mathematics, gf64.h of it what the results must be.
//
// A block here is a check's: 64 lanes of 32 slots, or of bits 64 octets of lanes of 16. Rows stand
// as words, block after block, in it tile after tile, in that strand after strand of 64 octets.
// Rows and all that is computed from them are secret; maps, weights and sizes are public.
#pragma once

#include "cuda/block/view.h"
#include "cuda/thread/octet_lift.h"

namespace tkdc::cuda {

inline constexpr std::uint32_t kCheckLanes = 64, kLaneWords = kCheckLanes / 4;
// Vertices, and extra points beside them.
inline constexpr std::uint32_t kVertices = 32, kOctetPoints = kVertices - 1;
inline constexpr std::uint32_t kBitSlots = 16, kBitPoints = 65;
inline constexpr std::uint32_t kSlotsOfBlock = 32, kMostSlots = 4, kMostProducts = 8;
// A set's blocks have one weight of their own. What a thread adds up is a part of a set.
inline constexpr std::uint32_t kSetBlocks = 64, kChunkBlocks = 8;

struct CheckRows {
  const Word* words;
  std::uint32_t blocks, tile_words, block_words;
};

// A map of a row: for bit k of the result eight words, all ones where bit b of the row counts.
struct RowMapMasks {
  std::uint32_t row, unused[3];
  Quad mask[kMapQuads];
};

// One factor at the extra points, from the slots: as x it goes to `x`, as y its product with that.
struct ExtendTask {
  CheckRows rows;
  std::uint32_t slots;  // of a tile
  std::uint32_t first_map[kMostSlots + 1];
  const RowMapMasks* maps;
  Word* x;  // for each 32 rows of 32 lanes: point, plane, row
  Word* terms;
  std::uint32_t product, products;
};

// This party's terms at the extra points, from the slots, of all factors together.
struct BitPointsTask {
  CheckRows rows;
  std::uint32_t factors;
  Word* terms;
};

// The products of a chunk, lifted and added up.
struct SumTask {
  const Word* terms;  // block, product, point, word of lanes
  std::uint32_t blocks, products, points, claims;
  std::uint32_t claim_of[kMostProducts];
  const Quad* weights;  // block of a set, claim
  Word* sums;           // chunk, point, octet, word of lanes
};

// Of a set, with its weight and the lanes'.
struct LaneSumTask {
  const Word* sums;
  std::uint32_t chunks, points;
  const Element* sigma;  // by lane
  const Element* of_set;
  Element* out;  // set, word of lanes, point
};

// The sums of each column of up to kReduceRows rows.
inline constexpr std::uint32_t kReduceRows = 32;
struct ReduceTask {
  const Element* in;
  std::uint32_t rows, width;
  Element* out;
};

// What a strand of a tile counts at the random point.
struct StrandMap {
  std::uint32_t tile, strand, unused[2];
  Quad map[kMapQuads];
};

struct LiftTask {
  CheckRows rows;
  const StrandMap* maps;
  std::uint32_t count;
  std::uint32_t factor, factors;
  const Element* sigma;     // y, z: by lane
  const Element* of_block;  // y, z
  Element* out;             // x, y: the vector, from the record on; z: eight of a block
};

// One side of one factor of bits. Maps: of component 0's slots 0..7 and 8..15 as if they were an
// octet's bits, then component 1's.
struct LiftBitsTask {
  CheckRows rows;
  std::uint32_t row, factor, factors;
  const Quad* maps;
  const Element* of_lane;   // y: by position
  const Element* of_block;  // y
  Element* out;             // the vector, from the record on
};

// A fold by 4. Past `count` the vectors are 0.
struct FoldTask {
  Element* vector[2];
  std::uint32_t count, stride;
  Element at[4];
  Element* sums;  // of points: nine of a thread
};

// For figures and the self-test: products one by one or 32 in planes.
struct ProductTask {
  const void *a, *b;
  void* out;
};

// Kernels with a task and no shared memory.
struct TaskBody : Alone {
  static std::uint32_t threads(const View& v) { return v.blocks; }
};
template <class T>
TKDC_HD const T& task_of(const View& v) {
  return *static_cast<const T*>(v.task);
}

}  // namespace tkdc::cuda
