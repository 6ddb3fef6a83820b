// SPDX-License-Identifier: Apache-2.0
// Where the parts of a batch's check stand in its device and pinned memory, and how much there must
// be of each: worked out from the shapes of its claims. Used by check.cc.
#pragma once

#include "cuda/block/check_tasks.h"
#include "cuda/device/check_memory.h"
#include "cuda/device/work.h"
#include "rep3/verify/octet_device.h"

namespace tkdc::cuda {

// A record in the shapes that kernels need.
struct CheckShape {
  explicit CheckShape(ClaimRows& its_record);
  std::size_t chunks() const { return (blocks + kChunkBlocks - 1) / kChunkBlocks; }
  std::size_t sets() const { return (blocks + kSetBlocks - 1) / kSetBlocks; }
  std::size_t row_octets() const { return blocks * tiles * strands * kCheckLanes; }
  std::size_t vector_elements() const { return blocks * factors * elements; }
  CheckRows rows(const Word* words) const;

  ClaimRows* record;
  bool bits;
  std::size_t blocks, tiles, strands, factors;
  std::size_t products, points;     // that are lifted, of a lane; extra points of each
  std::size_t elements;             // of a vector, for a block and factor
  std::size_t factor_maps, z_maps;  // of octets in all x and y; of a tile in z
};

struct CheckLayout {
  CheckLayout(std::vector<CheckShape> its_shapes, std::size_t its_products);

  // Sizes first; once there is memory of them, the places.
  std::size_t device_octets = 0, pinned_octets = 0;
  void place(const CheckMemory& memory);

  std::vector<CheckShape> shapes;
  std::size_t products;  // elements of a vector

  // On the device.
  Tick* tick = nullptr;
  std::vector<Word*> rows;
  Word *x = nullptr, *terms = nullptr, *sums = nullptr;
  Element *partial[2] = {}, *vector[2] = {};
  // Pinned.
  std::vector<std::uint8_t*> pinned_rows;
  Element *result = nullptr, *pinned_vector[2] = {};
  std::size_t most_points = 0;  // of a record, in `result`
  // Both.
  Mirror points, lift, parts, folds;

 private:
  class Cutter;
  void cut(Cutter& device, Cutter& pinned);
};

// Octets of a map, as octet_lift.h reads them; column b is the image of bit b.
void write_map(const Element (&column)[8], Quad* map);

}  // namespace tkdc::cuda
