// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/check_layout.h"

#include <algorithm>
#include <stdexcept>

#include "cuda/block/check_folds.h"

namespace tkdc::cuda {
namespace {

constexpr std::size_t kMostReductions = 8;  // 32^8 rows
constexpr std::size_t kTaskOctets = 256;    // more than any has
static_assert(kTaskOctets >= sizeof(ExtendTask) && kTaskOctets >= sizeof(SumTask) &&
              kTaskOctets >= sizeof(LiftTask) && kTaskOctets >= sizeof(FoldTask) &&
              kTaskOctets >= sizeof(LaneSumTask) && kTaskOctets >= sizeof(ReduceTask) &&
              kTaskOctets >= sizeof(BitPointsTask) && kTaskOctets >= sizeof(LiftBitsTask));
static_assert(kMostProducts == gf64::OctetProducts::kMost && kVertices == gf64::kVertices &&
              kBitSlots == gf64::kBitSlots && kBitPoints == gf64::kBitPoints);
constexpr std::size_t kMapOctets = kMapQuads * sizeof(Quad);

std::size_t terms_of(const std::vector<ClaimShape::Sum>& slots) {
  std::size_t terms = 0;
  for (const ClaimShape::Sum& sum : slots) terms += sum.size();
  return terms;
}

}  // namespace

CheckShape::CheckShape(ClaimRows& its_record)
    : record(&its_record), bits(its_record.bits()), blocks(its_record.blocks()),
      tiles(its_record.tiles_per_block()), strands(its_record.strands()),
      factors(its_record.shape().factors.size()), products(bits ? 1 : 0),
      points(bits ? kBitPoints : kOctetPoints), elements(bits ? 8 * kCheckLanes : kCheckLanes),
      factor_maps(0), z_maps(0) {
  const ClaimShape& shape = its_record.shape();
  // Both components of a row of bits have a map.
  for (const auto& z : shape.z) z_maps += (bits ? 2 : 1) * terms_of(z);
  if (bits) return;
  for (const ClaimShape::Factor& factor : shape.factors) {
    factor_maps += terms_of(factor.x);
    for (const ClaimShape::Right& right : factor.right) factor_maps += terms_of(right.y);
    products += factor.right.size();
  }
}

CheckRows CheckShape::rows(const Word* words) const {
  const std::size_t tile_words = strands * kLaneWords;
  return {words, static_cast<std::uint32_t>(blocks), static_cast<std::uint32_t>(tile_words),
          static_cast<std::uint32_t>(tiles * tile_words)};
}

// Counts with no memory below it, then cuts what there is the same way.
class CheckLayout::Cutter {
 public:
  explicit Cutter(void* base) : base_(static_cast<std::uint8_t*>(base)) {}
  template <class T>
  T* take(std::size_t n) {
    const std::size_t at = used_;
    used_ += (n * sizeof(T) + 255) / 256 * 256;
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + at);
  }
  std::size_t used() const { return used_; }

 private:
  std::uint8_t* base_;
  std::size_t used_ = 0;
};

CheckLayout::CheckLayout(std::vector<CheckShape> its_shapes, std::size_t its_products)
    : shapes(std::move(its_shapes)), products(its_products) {
  Cutter device(nullptr), pinned(nullptr);
  cut(device, pinned);
  device_octets = device.used();
  pinned_octets = pinned.used();
}

void CheckLayout::place(const CheckMemory& memory) {
  Cutter device(memory.device().memory()), pinned(memory.pinned().memory());
  rows.clear();
  pinned_rows.clear();
  cut(device, pinned);
  if (device.used() > memory.device().octets() || pinned.used() > memory.pinned().octets())
    throw std::logic_error("cuda: a batch of the check is larger than its memory");
}

void CheckLayout::cut(Cutter& device, Cutter& pinned) {
  std::size_t most_x = 0, most_terms = 0, most_sums = 0, most_partial = 0, of_points = 0,
              of_lift = 0, most_claims = 1;
  for (const CheckShape& shape : shapes) {
    rows.push_back(device.take<Word>(shape.row_octets() / sizeof(Word)));
    pinned_rows.push_back(pinned.take<std::uint8_t>(shape.row_octets()));
    const std::size_t halves = shape.bits ? 0 : (2 * shape.blocks + 31) / 32 * 32;
    most_x = std::max(most_x, halves * kVertices * 8);
    most_terms = std::max(most_terms, shape.blocks * shape.products * shape.points * kLaneWords);
    most_sums = std::max(most_sums, shape.chunks() * shape.points * 8 * kLaneWords);
    most_partial =
        std::max({most_partial, shape.sets() * kLaneWords * shape.points, shape.blocks * 8});
    most_points = std::max(most_points, shape.points);
    most_claims = std::max(most_claims, shape.record->shape().claims);
    of_points += (shape.factors + shape.products + 2 + kMostReductions) * kTaskOctets +
                 shape.factor_maps * sizeof(RowMapMasks) + shape.sets() * sizeof(Element) + 16;
    of_lift += (2 * shape.factors + 1 + kMostReductions) * kTaskOctets +
               shape.tiles * (shape.factor_maps + shape.z_maps) * sizeof(StrandMap) +
               shape.blocks * sizeof(Element) + 16;
    if (shape.bits) of_lift += 4 * kMapOctets + shape.elements * sizeof(Element);
  }
  // Weights of octets for each claim, and of bits.
  of_points += kSetBlocks * (most_claims + 1) * kMapOctets + kCheckLanes * sizeof(Element);
  of_lift += kCheckLanes * sizeof(Element);
  const std::size_t stride = products / 4 + 1;
  most_partial =
      std::max(most_partial, check::FoldPoints::threads_of(static_cast<std::uint32_t>(stride)) *
                                 std::size_t{check::FoldPoints::kPoints});

  tick = device.take<Tick>(1);
  x = device.take<Word>(most_x);
  terms = device.take<Word>(most_terms);
  sums = device.take<Word>(most_sums);
  for (int k = 0; k < 2; ++k) {
    partial[k] = device.take<Element>(most_partial);
    vector[k] = device.take<Element>(products);
    pinned_vector[k] = pinned.take<Element>(std::min(products, OctetBatch::kMostFetched));
  }
  result = pinned.take<Element>(shapes.size() * most_points + check::FoldPoints::kPoints);
  const std::pair<Mirror*, std::size_t> mirrors[] = {{&points, of_points},
                                                     {&lift, of_lift},
                                                     {&parts, (1 + kMostReductions) * kTaskOctets},
                                                     {&folds, kTaskOctets}};
  for (auto [mirror, octets] : mirrors) {
    auto* const beside = pinned.take<std::uint8_t>(octets);
    *mirror = Mirror(beside, device.take<std::uint8_t>(octets), octets);
  }
}

void write_map(const Element (&column)[8], Quad* map) {
  for (std::size_t b = 0; b < 8; ++b)
    for (std::size_t o = 0; o < 8; ++o)
      map[2 * b + o / 4].word[o % 4] = static_cast<Word>(column[b] >> 8 * o & 0xff);
}

}  // namespace tkdc::cuda
