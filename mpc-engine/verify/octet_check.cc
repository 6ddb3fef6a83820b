// SPDX-License-Identifier: Apache-2.0
#include "verify/octet_check.h"

#include <algorithm>

namespace tkdc {
namespace {

using gf64::Element;
using gf64::kLanes;
using gf64::kSlots;

// Public randomness: elements number first, first + 1, .. of the stream of `seed`.
void expand(const std::uint8_t* seed, std::uint64_t first, Element* out, std::size_t count) {
  static constexpr std::uint8_t kNonce[crypto_stream_xchacha20_NONCEBYTES] = {};
  static constexpr std::size_t kPerBlock = 8;
  Element block[kPerBlock];
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint64_t at = first + k;
    if (k == 0 || at % kPerBlock == 0) {
      std::memset(block, 0, sizeof block);
      auto* octets = reinterpret_cast<std::uint8_t*>(block);
      crypto_stream_xchacha20_xor_ic(octets, octets, sizeof block, kNonce, at / kPerBlock, seed);
    }
    out[k] = block[at % kPerBlock];
  }
}

constexpr std::uint64_t kClaimAt = 0, kSigmaAt = 64, kRhoAt = 128, kSetsAt = 1024;

std::size_t row_offset(const ClaimForm& form, std::size_t slot, std::size_t row) {
  return ((slot / form.slots) * form.rows + row) * 2 * kLanes;
}

gf64::RowMap row_map(std::size_t offset, const OctetMap& map) {
  gf64::RowMap out{};
  out.offset = offset;
  for (std::size_t b = 0; b < 8; ++b) {
    out.column[b] = map[b];
    for (std::size_t row = 0; row < 8; ++row)
      out.matrix |= std::uint64_t{map[b] >> row & 1u} << (8 * (7 - row) + b);
  }
  return out;
}

gf64::OctetValue octet_value(const ClaimForm& form, const std::vector<ClaimForm::Sum>& sums) {
  gf64::OctetValue value;
  for (std::size_t s = 0; s < kSlots; ++s)
    for (const ClaimForm::Term& term : sums[s % form.slots])
      value.slot[s].push_back(row_map(row_offset(form, s, term.row), term.map));
  return value;
}

gf64::OctetProducts octet_products(const ClaimForm& form) {
  gf64::OctetProducts out;
  for (const ClaimForm::Factor& factor : form.factors) {
    for (const ClaimForm::Right& right : factor.right) {
      out.products.push_back({out.left.size(), out.right.size(), right.claim});
      out.right.push_back(octet_value(form, right.y));
    }
    out.left.push_back(octet_value(form, factor.x));
  }
  assert(std::max(out.left.size(), out.right.size()) <= gf64::OctetProducts::kMaxValues);
  return out;
}

// Points of interpolation, which are octets: 0, 1, 2, ..
template <std::size_t kCount>
struct OctetPoints {
  Element point[kCount], scale[kCount];  // scale: 1 / product of the differences to the others
  OctetPoints() {
    for (std::size_t k = 0; k < kCount; ++k) {
      point[k] = gf64::embed(static_cast<std::uint8_t>(k));
      std::uint8_t product = 1;
      for (std::size_t other = 0; other < kCount; ++other)
        if (other != k)
          product = gf64::octet_product(product, static_cast<std::uint8_t>(k ^ other));
      scale[k] = gf64::embed(gf64::octet_inverse(product));
    }
  }
  // Lagrange's weights at t.
  std::vector<Element> weights(Element t) const {
    std::vector<Element> out(kCount);
    Element before = 1, after = 1;
    for (std::size_t k = 0; k < kCount; ++k) {
      out[k] = gf64::multiply(before, scale[k]);
      before = gf64::multiply(before, t ^ point[k]);
    }
    for (std::size_t k = kCount; k-- > 0;) {
      out[k] = gf64::multiply(out[k], after);
      after = gf64::multiply(after, t ^ point[k]);
    }
    return out;
  }
};

// What a point of the challenge weighs: x and y of the slots, and h's values at the
// vertices and at the other points.
struct Weights {
  std::vector<Element> slot, vertex, extra;
};

Weights octet_weights(Element t) {
  static_assert(gf64::extra_point(0) == kSlots);
  static const OctetPoints<kSlots> slots;
  static const OctetPoints<kSlots + gf64::kExtraPoints> points;
  Weights out;
  out.slot = slots.weights(t);
  const std::vector<Element> all = points.weights(t);
  out.vertex.assign(all.begin(), all.begin() + kSlots);
  out.extra.assign(all.begin() + kSlots, all.end());
  return out;
}

Weights bit_weights(const Element t[4]) {
  using Check = InnerProductCheck<Gf64Field>;
  auto product = [t](auto factor) {
    Element weight = 1;
    for (int v = 0; v < 4; ++v) weight = gf64::multiply(weight, factor(t[v], v));
    return weight;
  };
  Weights out;
  for (std::size_t s = 0; s < kSlots; ++s)
    out.slot.push_back(product([s](Element at, int v) { return Check::linear(at, s >> v & 1); }));
  std::vector<Element> all;
  for (std::size_t p = 0; p < points(4); ++p)
    all.push_back(
        product([p](Element at, int v) { return Check::quadratic(at, p / points(v) % 3); }));
  for (std::size_t s = 0; s < kSlots; ++s) out.vertex.push_back(all[vertex_point(s)]);
  for (std::size_t p = 0; p < all.size(); ++p)
    if (!is_vertex<4>(p)) out.extra.push_back(all[p]);
  return out;
}

// Has the block after this one brought near while this one is worked on; blocks mostly
// stand one after the other. What is not a block does no harm.
void prefetch_next(const std::uint8_t* block, std::size_t bytes) {
  constexpr std::size_t kCacheLine = 64;
  for (std::size_t k = 0; k < bytes; k += kCacheLine) __builtin_prefetch(block + bytes + k);
}

// Linear maps of rows that are added up, one for each row.
class RowLifts {
 public:
  explicit RowLifts(const ClaimForm& form) : form_(form) {}
  void add(std::size_t slot, const ClaimForm::Term& term, Element weight) {
    const std::size_t offset = row_offset(form_, slot, term.row);
    auto same =
        std::ranges::find_if(rows_, [&](const gf64::RowLift& row) { return row.offset == offset; });
    if (same == rows_.end()) {
      rows_.push_back({offset, {}});
      same = rows_.end() - 1;
    }
    gf64::Lift weighted;
    gf64::kernels().set_octet_lift(weight, weighted);
    for (std::size_t b = 0; b < 8; ++b)
      for (unsigned bit = 0; bit < 8; ++bit)
        if (term.map[b] >> bit & 1) same->lift.column[b] ^= weighted.column[bit];
  }
  void add(std::size_t slot, const ClaimForm::Sum& sum, Element weight) {
    for (const ClaimForm::Term& term : sum) add(slot, term, weight);
  }
  std::vector<gf64::RowLift> take() {
    for (gf64::RowLift& row : rows_) gf64::kernels().set_matrices(row.lift);
    return std::move(rows_);
  }

 private:
  const ClaimForm& form_;
  std::vector<gf64::RowLift> rows_;
};

void set_weighted(const gf64::Lift slots[2], Element weight, gf64::Lift out[2]) {
  static constexpr Element kOnes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (int half = 0; half < 2; ++half) {
    std::copy_n(slots[half].column, 8, out[half].column);
    gf64::kernels().scale(8, kOnes, weight, out[half].column);
    gf64::kernels().set_matrices(out[half]);
  }
}

}  // namespace

struct OctetCheck::Lifts {
  std::vector<Element> extra;
  std::vector<gf64::RowLift> z;
  std::vector<std::vector<gf64::RowLift>> x, y;  // of each factor; kOctets
  gf64::Lift slots[2];                           // kBits
  std::vector<Element> weight;                   // of a lane's elements
};

OctetCheck::OctetCheck(std::vector<std::unique_ptr<ClaimRecord>> claims, const std::uint8_t* seed) {
  std::copy_n(seed, kSeedBytes, seed_.begin());
  std::size_t blocks = 0, claims_of_form = 0, sets = 0;
  for (auto& record : claims) {
    Group group;
    group.form = &record->form();
    blocks = std::max(blocks, record->blocks());
    claims_of_form = std::max(claims_of_form, group.form->claims);
    group.extra = group.bits() ? gf64::kBitPoints : gf64::kExtraPoints;
    group.first_set = sets;
    sets += (record->blocks() + kBlocksPerSet - 1) / kBlocksPerSet;
    if (!group.bits()) group.products = octet_products(*group.form);
    group.record = std::move(record);
    groups_.push_back(std::move(group));
  }
  claim_.resize(claims_of_form);
  expand(seed, kClaimAt, claim_.data(), claim_.size());
  claim_[0] = 1;
  expand(seed, kSigmaAt, sigma_, kLanes);
  rho_.resize(std::min(blocks, kBlocksPerSet));
  expand(seed, kRhoAt, rho_.data(), rho_.size());
  for (Element rho : rho_)
    for (Element c : claim_)
      gf64::kernels().set_octet_lift(gf64::multiply(rho, c), lift_.emplace_back());
}

OctetCheck::~OctetCheck() = default;

OctetCheck::Element OctetCheck::set_weight(std::size_t set) const {
  Element weight = 0;
  expand(seed_.data(), kSetsAt + set, &weight, 1);
  return weight;
}

std::size_t OctetCheck::message_bytes() const {
  std::size_t bytes = 0;
  for (const Group& group : groups_) bytes += group.extra * Gf64Field::kBytes;
  return bytes;
}

void OctetCheck::sum_group(Group& group, Element* out) {
  const gf64::Kernels& kernels = gf64::kernels();
  ElementArray<Gf64Field> memory(group.extra * kLanes);
  auto* sums = reinterpret_cast<gf64::LaneSums*>(memory.data());
  for (std::size_t p = 0; p < group.extra; ++p) {
    sums[p].clear();
    out[p] = 0;
  }
  std::size_t block = 0, set = group.first_set;
  const std::size_t blocks = group.record->blocks();
  const std::size_t block_bytes = group.record->block_bytes();
  group.record->for_each_block([&](const std::uint8_t* octets) {
    prefetch_next(octets, block_bytes);
    const gf64::Lift* weight = &lift_[block % kBlocksPerSet * claim_.size()];
    if (group.bits())
      kernels.bit_points(group.form->factors.size(), octets, *weight, sums);
    else
      kernels.octet_points(group.products, octets, weight, sums);
    if (++block % kBlocksPerSet != 0 && block != blocks) return;
    const Element of_set = set_weight(set++);
    for (std::size_t p = 0; p < group.extra; ++p) {
      out[p] ^= gf64::multiply(of_set, kernels.lane_sum(sums[p], sigma_));
      sums[p].clear();
    }
  });
}

void OctetCheck::points(std::uint8_t* out) {
  for (Group& group : groups_) {
    std::vector<Element> sums(group.extra);
    sum_group(group, sums.data());
    for (Element sum : sums) {
      InnerProductCheck<Gf64Field>::put(out, sum);
      out += Gf64Field::kBytes;
    }
    sodium_memzero(sums.data(), sums.size() * sizeof(Element));
  }
}

OctetCheck::Lifts OctetCheck::lifts_of(const Group& group, const Element at[4]) const {
  const ClaimForm& form = *group.form;
  Weights weights = group.bits() ? bit_weights(at) : octet_weights(at[0]);
  Lifts out;
  out.extra = std::move(weights.extra);
  RowLifts z(form);
  for (std::size_t claim = 0; claim < form.claims; ++claim)
    for (std::size_t s = 0; s < kSlots; ++s)
      z.add(s, form.z[claim][s % form.slots], gf64::multiply(claim_[claim], weights.vertex[s]));
  out.z = z.take();
  if (group.bits()) {
    for (std::size_t s = 0; s < kSlots; ++s) out.slots[s / 8].column[s % 8] = weights.slot[s];
    for (gf64::Lift& lift : out.slots) gf64::kernels().set_matrices(lift);
    Element of_lane[kLanes];
    for (std::size_t p = 0; p < kLanes; ++p) of_lane[gf64::lane_at(p)] = sigma_[p];
    for (std::size_t p = 0; p < 8 * kLanes; ++p) {
      const gf64::LaneBit bit = gf64::lane_bit_at(p);
      out.weight.push_back(
          gf64::multiply(of_lane[bit.lane], gf64::embed(static_cast<std::uint8_t>(1u << bit.bit))));
    }
    return out;
  }
  out.weight.assign(sigma_, sigma_ + kLanes);
  for (const ClaimForm::Factor& factor : form.factors) {
    RowLifts x(form), y(form);
    for (std::size_t s = 0; s < kSlots; ++s) {
      x.add(s, factor.x[s % form.slots], weights.slot[s]);
      for (const ClaimForm::Right& right : factor.right)
        y.add(s, right.y[s % form.slots], gf64::multiply(claim_[right.claim], weights.slot[s]));
    }
    out.x.push_back(x.take());
    out.y.push_back(y.take());
  }
  return out;
}

void OctetCheck::lift_group(Group& group, const Lifts& lifts, Element weight, std::size_t& at,
                            InnerProductCheck<Gf64Field>& out) {
  const gf64::Kernels& kernels = gf64::kernels();
  const ClaimForm& form = *group.form;
  ElementArray<Gf64Field> z(2 * kLanes);
  Element* const zs[2] = {z.data(), z.data() + kLanes};
  const std::size_t tile_bytes = form.rows * 2 * kLanes, factors = form.factors.size();
  std::size_t block = 0, set = group.first_set;
  const std::size_t block_bytes = group.record->block_bytes();
  Element of_set = 0;
  gf64::Lift of_y[2];
  group.record->for_each_block([&](const std::uint8_t* octets) {
    prefetch_next(octets, block_bytes);
    if (block % kBlocksPerSet == 0) of_set = gf64::multiply(weight, set_weight(set++));
    const Element of_block = gf64::multiply(of_set, rho_[block++ % kBlocksPerSet]);
    // Of bits the slots' sixteen weights take the block's, not 512 products.
    if (group.bits()) set_weighted(lifts.slots, of_block, of_y);
    for (std::size_t f = 0; f < factors; ++f) {
      Element* const x[2] = {out.x[0].data() + at, out.x[1].data() + at};
      Element* const y[2] = {out.y[0].data() + at, out.y[1].data() + at};
      if (group.bits()) {
        kernels.lift_bits(lifts.slots, octets + f * 2 * kLanes, tile_bytes, x);
        kernels.lift_bits(of_y, octets + (factors + f) * 2 * kLanes, tile_bytes, y);
      } else {
        kernels.lift_octets(lifts.x[f], octets, x);
        kernels.lift_octets(lifts.y[f], octets, y);
      }
      for (Element* component : y)
        kernels.scale(lifts.weight.size(), lifts.weight.data(), group.bits() ? 1 : of_block,
                      component);
      at += lifts.weight.size();
    }
    kernels.lift_octets(lifts.z, octets, zs);
    for (int c = 0; c < 2; ++c)
      out.claim[c] ^= gf64::multiply(of_block, kernels.dot(kLanes, sigma_, zs[c]));
  });
}

void OctetCheck::fold(const std::uint8_t* mine, const std::uint8_t* theirs,
                      const std::uint8_t* challenge, InnerProductCheck<Gf64Field>& out) {
  using Check = InnerProductCheck<Gf64Field>;
  Element at[4];
  for (int v = 0; v < 4; ++v) at[v] = Check::get(challenge + v * Gf64Field::kBytes);
  const Element gamma = Check::get(challenge + 4 * Gf64Field::kBytes);
  std::size_t products = 0;
  for (const Group& group : groups_)
    products +=
        group.record->blocks() * group.form->factors.size() * kLanes * (group.bits() ? 8 : 1);
  out.allocate(products);
  Element weight = 1;
  std::size_t next = 0;
  for (Group& group : groups_) {
    const Lifts lifts = lifts_of(group, at);
    for (std::size_t p = 0; p < group.extra; ++p) {
      const Element of_point = gf64::multiply(weight, lifts.extra[p]);
      out.claim[0] ^= gf64::multiply(of_point, Check::get(mine));
      out.claim[1] ^= gf64::multiply(of_point, Check::get(theirs));
      mine += Gf64Field::kBytes;
      theirs += Gf64Field::kBytes;
    }
    lift_group(group, lifts, weight, next, out);
    group.record.reset();
    weight = gf64::multiply(weight, gamma);
  }
}

}  // namespace tkdc
