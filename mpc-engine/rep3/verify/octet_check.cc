// SPDX-License-Identifier: Apache-2.0
#include "rep3/verify/octet_check.h"

#include <algorithm>
#include <stdexcept>

#include "rep3/verify/point_weights.h"

namespace tkdc {
namespace {

using gf64::Element;
using gf64::kBitSlots;
using gf64::kLanes;
using gf64::kVertices;

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

gf64::RowMap row_map(const ClaimShape::Term& term) {
  gf64::RowMap out{};
  out.row = term.row;
  out.matrix = affine_matrix(term.map);
  std::copy(term.map.begin(), term.map.end(), out.column);
  return out;
}

gf64::OctetValue octet_value(const std::vector<ClaimShape::Sum>& slots) {
  gf64::OctetValue value;
  for (const ClaimShape::Sum& sum : slots) {
    auto& maps = value.slot.emplace_back();
    for (const ClaimShape::Term& term : sum) maps.push_back(row_map(term));
    if (maps.empty()) throw std::logic_error("a factor of claims without rows");
  }
  return value;
}

gf64::OctetProducts octet_products(const ClaimShape& shape) {
  gf64::OctetProducts out;
  std::size_t products = 0;
  for (const ClaimShape::Factor& factor : shape.factors) {
    auto& of_factor = out.factors.emplace_back();
    of_factor.x = octet_value(factor.x);
    for (const ClaimShape::Right& right : factor.right) {
      of_factor.right.push_back({octet_value(right.y), right.claim});
      ++products;
    }
  }
  if (products > gf64::OctetProducts::kMost)
    throw std::logic_error("more products in a shape of claims than the kernels take");
  return out;
}

// A sum of maps of rows: what each strand of a tile adds to it. One may count in several
// slots, and for several claims.
struct LiftedStrands {
  struct Term {
    std::size_t slot, claim;
    Element column[8];  // the map's images as elements
  };
  struct Strand {
    std::size_t strand;
    std::vector<Term> terms;
  };
  std::vector<Strand> strands;

  void add(const std::vector<ClaimShape::Sum>& of_slot, std::size_t claim) {
    for (std::size_t slot = 0; slot < of_slot.size(); ++slot)
      for (const ClaimShape::Term& term : of_slot[slot]) add(term.row, slot, claim, term.map, 1);
  }
  // Of rows of bits, whose components are kept, their Shamir share.
  void add_bits(const ClaimShape::Sum& sum) {
    for (const ClaimShape::Term& term : sum) {
      add(2 * term.row, 0, 0, term.map, Gf64Field::one());
      add(2 * term.row + 1, 0, 0, term.map, Gf64Field::omega());
    }
  }
  void add(std::size_t strand, std::size_t slot, std::size_t claim, const OctetMap& map,
           Element factor) {
    auto same = std::ranges::find_if(strands, [&](const Strand& s) { return s.strand == strand; });
    if (same == strands.end()) same = strands.insert(strands.end(), {strand, {}});
    Term& added = same->terms.emplace_back();
    added.slot = slot;
    added.claim = claim;
    for (std::size_t b = 0; b < 8; ++b)
      added.column[b] = gf64::multiply(factor, gf64::embed(map[b]));
  }
  // Of every tile; weight[claim][s] is what slot s of a block counts for the claim.
  std::vector<gf64::StrandLift> at(const std::vector<std::vector<Element>>& weight,
                                   std::size_t slots) const {
    std::vector<gf64::StrandLift> out(weight[0].size() / slots * strands.size());
    std::size_t next = 0;
    for (std::size_t first = 0; first < weight[0].size(); first += slots)
      for (const Strand& row : strands) {
        gf64::StrandLift& lifted = out[next++];
        lifted.tile = first / slots;
        lifted.strand = row.strand;
        for (const Term& term : row.terms)
          gf64::kernels().add_scaled(weight[term.claim][first + term.slot], term.column,
                                     lifted.lift.column);
        gf64::kernels().set_matrices(lifted.lift);
      }
    return out;
  }
};

void set_weighted(const gf64::Lift slots[4], Element weight, gf64::Lift out[4]) {
  static constexpr Element kOnes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (int half = 0; half < 4; ++half) {
    std::copy_n(slots[half].column, 8, out[half].column);
    gf64::kernels().scale(8, kOnes, weight, out[half].column);
    gf64::kernels().set_matrices(out[half]);
  }
}

// Every map of a row makes multiplication by w of what component i+1 is kept with, or a
// Shamir share would not be what it is mapped to.
void check_seconds(const ClaimShape& shape) {
  auto check = [&](const std::vector<ClaimShape::Sum>& of_slot) {
    for (const ClaimShape::Sum& sum : of_slot)
      for (const ClaimShape::Term& term : sum)
        for (std::size_t b = 0; b < 8; ++b)
          if (image_of(term.map, shape.second.at(term.row)[b]) !=
              image_of(kTimesOmega, term.map[b]))
            throw std::logic_error("a claim's map is not linear over GF(4) as its row is kept");
  };
  for (const auto& z : shape.z) check(z);
  for (const ClaimShape::Factor& factor : shape.factors) {
    check(factor.x);
    for (const ClaimShape::Right& right : factor.right) check(right.y);
  }
}

}  // namespace

struct OctetShapes::Prepared {
  explicit Prepared(const ClaimShape& shape) : products(octet_products(shape)) {
    if (shape.product == ClaimShape::Product::kBits) {
      z.add_bits(shape.z[0][0]);
      return;
    }
    check_seconds(shape);
    for (std::size_t claim = 0; claim < shape.claims; ++claim) z.add(shape.z[claim], claim);
    for (const ClaimShape::Factor& factor : shape.factors) {
      x.emplace_back().add(factor.x, 0);
      y.emplace_back();
      for (const ClaimShape::Right& right : factor.right) y.back().add(right.y, right.claim);
    }
  }
  gf64::OctetProducts products;
  LiftedStrands z;
  std::vector<LiftedStrands> x, y;  // of each factor
};

OctetShapes::OctetShapes() = default;
OctetShapes::~OctetShapes() = default;
const OctetShapes::Prepared& OctetShapes::of(const ClaimShape& shape) {
  std::unique_ptr<Prepared>& prepared = prepared_[&shape];
  if (prepared == nullptr) prepared = std::make_unique<Prepared>(shape);
  return *prepared;
}

struct OctetCheck::Lifts : OctetBatch::Maps {
  std::vector<Element> extra;
  Element weight;  // the shape's power of gamma
};

OctetCheck::OctetCheck(std::vector<std::unique_ptr<ClaimRows>> claims, const std::uint8_t* seed,
                       OctetShapes& shapes, std::unique_ptr<OctetBatch> on_device)
    : on_device_(std::move(on_device)) {
  std::copy_n(seed, kSeedBytes, seed_.begin());
  std::size_t blocks = 0, claims_of_shape = 0, sets = 0;
  for (auto& record : claims) {
    Group group;
    group.shape = &record->shape();
    blocks = std::max(blocks, record->blocks());
    claims_of_shape = std::max(claims_of_shape, group.shape->claims);
    group.extra = group.bits() ? gf64::kBitPoints : gf64::kExtraPoints;
    group.first_set = sets;
    sets += (record->blocks() + kBlocksPerSet - 1) / kBlocksPerSet;
    group.prepared = &shapes.of(*group.shape);
    group.record = std::move(record);
    groups_.push_back(std::move(group));
  }
  claim_.resize(claims_of_shape);
  expand(seed, kClaimAt, claim_.data(), claim_.size());
  claim_[0] = 1;
  expand(seed, kSigmaAt, sigma_, kLanes);
  rho_.resize(std::min(blocks, kBlocksPerSet));
  expand(seed, kRhoAt, rho_.data(), rho_.size());
  // Of bits this party's terms are added up, of octets products of Shamir shares.
  for (Element rho : rho_) {
    gf64::kernels().set_octet_lift(rho, bit_lift_.emplace_back());
    for (Element c : claim_) {
      const Element term = gf64::multiply(omega_square<Gf64Field>(), gf64::multiply(rho, c));
      gf64::kernels().set_octet_lift(term, lift_.emplace_back());
    }
  }
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
  SecretPool pool;
  const SecretPool::Piece memory = pool.take((group.extra + 1) * sizeof(gf64::LaneSums));
  auto* sums = reinterpret_cast<gf64::LaneSums*>(memory.data());
  for (std::size_t p = 0; p <= group.extra; ++p) sums[p].clear();
  for (std::size_t p = 0; p < group.extra; ++p) out[p] = 0;
  std::size_t block = 0, set = group.first_set;
  const std::size_t blocks = group.record->blocks();
  group.record->for_each_block([&](const gf64::Tile* tiles) {
    const std::size_t of_set = block % kBlocksPerSet;
    if (group.bits())
      kernels.bit_points(group.shape->factors.size(), tiles, bit_lift_[of_set], sums);
    else
      kernels.octet_points(group.prepared->products, tiles, &lift_[of_set * claim_.size()], sums);
    if (++block % kBlocksPerSet != 0 && block != blocks) return;
    const Element weight = set_weight(set++);
    for (std::size_t p = 0; p < group.extra; ++p) {
      out[p] ^= gf64::multiply(weight, kernels.lane_sum(sums[p], sigma_));
      sums[p].clear();
    }
  });
}

void OctetCheck::points(std::uint8_t* out) {
  std::vector<Sums> all;
  for (const Group& group : groups_) all.emplace_back(group.extra);
  const bool summed = sum_on_device(all);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Sums& sums = all[g];
    if (!summed) sum_group(groups_[g], sums.data());
    for (Element sum : sums) {
      InnerProductCheck<Gf64Field>::put(out, sum);
      out += Gf64Field::kBytes;
    }
    sodium_memzero(sums.data(), sums.size() * sizeof(Element));
  }
}

OctetCheck::Lifts OctetCheck::lifts_of(const Group& group, const Element at[4]) const {
  const ClaimShape& shape = *group.shape;
  Weights weights = group.bits() ? bit_weights(at) : octet_weights(at[0]);
  Lifts out;
  out.extra = std::move(weights.extra);
  // Of the claims, each with its c.
  auto of_claims = [&](const std::vector<Element>& weight) {
    std::vector<std::vector<Element>> all(shape.claims, weight);
    for (std::size_t claim = 1; claim < shape.claims; ++claim)
      for (Element& one : all[claim]) one = gf64::multiply(one, claim_[claim]);
    return all;
  };
  out.z = group.prepared->z.at(of_claims(weights.vertex), shape.slots);
  if (group.bits()) {
    for (std::size_t s = 0; s < kBitSlots; ++s) {
      out.slots[s / 8].column[s % 8] = weights.slot[s];
      out.slots[2 + s / 8].column[s % 8] = gf64::multiply(Gf64Field::omega(), weights.slot[s]);
    }
    for (gf64::Lift& lift : out.slots) gf64::kernels().set_matrices(lift);
    Element of_lane[kLanes];
    for (std::size_t p = 0; p < kLanes; ++p) of_lane[gf64::lane_at(p)] = sigma_[p];
    for (std::size_t p = 0; p < 8 * kLanes; ++p) {
      const gf64::LaneBit bit = gf64::lane_bit_at(p);
      out.of_lane.push_back(
          gf64::multiply(of_lane[bit.lane], gf64::embed(static_cast<std::uint8_t>(1u << bit.bit))));
    }
    return out;
  }
  const auto of_slot = of_claims(weights.slot);
  for (const LiftedStrands& x : group.prepared->x) out.x.push_back(x.at(of_slot, shape.slots));
  for (const LiftedStrands& y : group.prepared->y) out.y.push_back(y.at(of_slot, shape.slots));
  return out;
}

void OctetCheck::lift_group(Group& group, const Lifts& lifts, Element* x, Element* y,
                            Element& claim) {
  const gf64::Kernels& kernels = gf64::kernels();
  const std::size_t factors = group.shape->factors.size();
  Element z[kLanes];
  const std::size_t of_factor = group.bits() ? 8 * kLanes : kLanes;
  std::vector<Element> of_lane;
  std::size_t block = 0, set = group.first_set;
  Element of_set = 0;
  gf64::Lift of_y[4];
  group.record->for_each_block([&](const gf64::Tile* tiles) {
    if (block % kBlocksPerSet == 0) of_set = gf64::multiply(lifts.weight, set_weight(set++));
    const Element of_block = gf64::multiply(of_set, rho_[block++ % kBlocksPerSet]);
    if (group.bits()) {
      // The slots' weights take the block's, not 512 products.
      set_weighted(lifts.slots, of_block, of_y);
    } else {
      of_lane.assign(kLanes, of_block);
      kernels.scale(kLanes, sigma_, 1, of_lane.data());
    }
    for (std::size_t f = 0; f < factors; ++f) {
      if (group.bits()) {
        kernels.lift_bits(lifts.slots, tiles, f, x);
        kernels.lift_bits(of_y, tiles, factors + f, y);
        kernels.scale(lifts.of_lane.size(), lifts.of_lane.data(), 1, y);
      } else {
        kernels.lift_octets(lifts.x[f], tiles, nullptr, x);
        kernels.lift_octets(lifts.y[f], tiles, of_lane.data(), y);
      }
      x += of_factor;
      y += of_factor;
    }
    kernels.lift_octets(lifts.z, tiles, nullptr, z);
    claim ^= gf64::multiply(of_block, kernels.dot(kLanes, sigma_, z));
  });
  sodium_memzero(z, sizeof z);
}

std::vector<OctetCheck::Lifts> OctetCheck::all_lifts(const std::uint8_t* challenge) const {
  using Check = InnerProductCheck<Gf64Field>;
  Element at[4], weight = 1;
  for (int v = 0; v < 4; ++v) at[v] = Check::get(challenge + v * Gf64Field::kBytes);
  const Element gamma = Check::get(challenge + 4 * Gf64Field::kBytes);
  std::vector<Lifts> lifts;
  for (const Group& group : groups_) {
    lifts.push_back(lifts_of(group, at));
    lifts.back().weight = weight;
    weight = gf64::multiply(weight, gamma);
  }
  return lifts;
}

OctetCheck::Element OctetCheck::claim_of_points(const std::vector<Lifts>& lifts,
                                                const std::uint8_t* mine,
                                                const std::uint8_t* theirs) const {
  using Check = InnerProductCheck<Gf64Field>;
  Element claim = 0;
  for (const Lifts& of_group : lifts)
    for (Element extra : of_group.extra) {
      claim ^= gf64::multiply(gf64::multiply(of_group.weight, extra),
                              shamir<Gf64Field>(Check::get(mine), Check::get(theirs)));
      mine += Gf64Field::kBytes;
      theirs += Gf64Field::kBytes;
    }
  return claim;
}

void OctetCheck::lift_all(const std::vector<Lifts>& lifts, bool keep, Element* x, Element* y,
                          Element& claim) {
  std::size_t at = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t products = groups_[g].products();
    lift_group(groups_[g], lifts[g], x + at, y + at, claim);
    if (!keep) groups_[g].record.reset();
    at += products;
  }
}

void OctetCheck::fold(std::unique_ptr<OctetCheck> check, const std::uint8_t* mine,
                      const std::uint8_t* theirs, const std::uint8_t* challenge,
                      InnerProductCheck<Gf64Field>& out, SecretPool& pool) {
  std::size_t products = 0;
  for (const Group& group : check->groups_) products += group.products();
  const std::vector<Lifts> lifts = check->all_lifts(challenge);
  out.claim = check->claim_of_points(lifts, mine, theirs);
  if (check->lift_on_device(lifts, out.claim))
    return out.keep_elsewhere(
        products, std::make_unique<OctetsOnDevice>(std::move(check), challenge, products, pool));
  out.allocate(products, pool);
  check->lift_all(lifts, false, out.x.data(), out.y.data(), out.claim);
}

void OctetCheck::lift_again(const std::uint8_t* challenge, Element* x, Element* y) {
  Element unused = 0;
  lift_all(all_lifts(challenge), true, x, y, unused);
}

// ---- with a device

std::size_t OctetCheck::products_of(const ClaimRows& record) {
  return record.blocks() * record.shape().factors.size() * kLanes * (record.bits() ? 8 : 1);
}

std::unique_ptr<OctetBatch> OctetCheck::begin(
    OctetDevice* device, const std::vector<std::unique_ptr<ClaimRows>>& claims) {
  if (device == nullptr || claims.empty()) return nullptr;
  std::vector<ClaimRows*> records;
  std::size_t products = 0;
  for (const auto& record : claims) {
    products += products_of(*record);
    records.push_back(record.get());
  }
  return device->begin(records, products);
}

std::vector<OctetCheck::Element> OctetCheck::set_weights(const Group& group) const {
  std::vector<Element> out((group.record->blocks() + kBlocksPerSet - 1) / kBlocksPerSet);
  expand(seed_.data(), kSetsAt + group.first_set, out.data(), out.size());
  return out;
}

bool OctetCheck::sum_on_device(std::vector<Sums>& sums) {
  if (on_device_ == nullptr) return false;
  std::vector<OctetBatch::Points> records;
  std::size_t points = 0;
  for (const Group& group : groups_) {
    records.push_back({&group.prepared->products, set_weights(group)});
    points += group.extra;
  }
  Sums got(points);
  if (!on_device_->points({lift_, bit_lift_, claim_.size(), sigma_}, records, got.data())) {
    on_device_.reset();
    return false;
  }
  auto from = got.begin();
  for (Sums& of_group : sums) {
    std::copy_n(from, of_group.size(), of_group.begin());
    from += static_cast<std::ptrdiff_t>(of_group.size());
  }
  return true;
}

// The claim changes only if all of it succeeds.
bool OctetCheck::lift_on_device(const std::vector<Lifts>& lifts, Element& claim) {
  if (on_device_ == nullptr) return false;
  std::vector<OctetBatch::Lifts> records;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::vector<Element> of_set = set_weights(groups_[g]);
    std::vector<Element> of_block(groups_[g].record->blocks());
    for (std::size_t b = 0; b < of_block.size(); ++b)
      of_block[b] = gf64::multiply(gf64::multiply(lifts[g].weight, of_set[b / kBlocksPerSet]),
                                   rho_[b % kBlocksPerSet]);
    records.push_back({&lifts[g], std::move(of_block)});
  }
  Element of_z = 0;
  const bool done = on_device_->lift(sigma_, records, of_z);
  if (done) claim ^= of_z;
  if (!done) on_device_.reset();
  return done;
}

}  // namespace tkdc
