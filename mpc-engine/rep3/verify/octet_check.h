// SPDX-License-Identifier: Apache-2.0
// From octet claims to one inner product over GF(2^64), without the rounds
// (verifier.cc has them). docs/protocols/12-verification.md derives the error.
//
//   1. After the batch's last message a seed is opened. It gives each claim the
//      coefficient c[claim] sigma[lane] rho[block % 64] w[block / 64], all factors
//      uniform in GF(2^64) (c[0] = 1). A block has 32 slots (of bits 16); in each of them the
//      combination of (z - sum x y) is 0 if the batch is right.
//   2. With a block's slots at the vertices, X and Y are polynomials, and h = the
//      combination of X Y is one of twice the degree. At the vertices it is what the
//      claims say; its values at the other points that determine it are sent. They
//      are sums of products of octets, lifted and weighted once.
//      Octets' products: one variable, vertices 0..31, 31 other points of the AES
//      field. Bits' products: four variables, 65 other points of {0,1,infinity}^4.
//   3. At a random point every lane is one product in GF(2^64).
// Claims of different shapes have an h of their own; from there on the g-th shape's
// count times gamma^g, gamma opened with the point, or equal errors in two shapes'
// values would cancel.
//
// A device may have the bulk of it (octet_device.h): sums, lifts and the first folds.
#pragma once

#include <map>

#include "rep3/verify/inner_product.h"
#include "rep3/verify/octet_elsewhere.h"

namespace tkdc {

// What of a shape does not depend on challenges, made once for each.
class OctetShapes {
 public:
  struct Prepared;
  OctetShapes();
  ~OctetShapes();
  const Prepared& of(const ClaimShape& shape);

 private:
  std::map<const ClaimShape*, std::unique_ptr<Prepared>> prepared_;
};

class OctetCheck final : public OctetSource {
 public:
  using Element = gf64::Element;
  static constexpr std::size_t kSeedBytes = 32;
  static constexpr std::size_t kChallengeBytes = OctetSource::kChallengeBytes;

  // `on_device`: what begin() gave for these claims.
  OctetCheck(std::vector<std::unique_ptr<ClaimRows>> claims, const std::uint8_t* seed,
             OctetShapes& shapes, std::unique_ptr<OctetBatch> on_device = nullptr);
  ~OctetCheck() override;
  // Has the device take the claims, before the seed is known. Null: it does not.
  static std::unique_ptr<OctetBatch> begin(OctetDevice* device,
                                           const std::vector<std::unique_ptr<ClaimRows>>& claims);

  std::size_t message_bytes() const;
  void points(std::uint8_t* out);
  // Sets the inner product: the lanes' products at the point, and their claim. While a device has
  // the vectors, `check` lives on in it: they can be made again.
  static void fold(std::unique_ptr<OctetCheck> check, const std::uint8_t* mine,
                   const std::uint8_t* theirs, const std::uint8_t* challenge,
                   InnerProductCheck<Gf64Field>& out, SecretPool& pool);

 private:
  static constexpr std::size_t kBlocksPerSet = OctetBatch::kBlocksPerSet;

  struct Group {  // the claims of one shape
    const ClaimShape* shape;
    const OctetShapes::Prepared* prepared;
    std::unique_ptr<ClaimRows> record;
    std::size_t extra = 0;      // points sent
    std::size_t first_set = 0;  // sets are numbered through all groups
    bool bits() const { return shape->product == ClaimShape::Product::kBits; }
    std::size_t products() const { return products_of(*record); }
  };
  struct Lifts;  // what a group counts at the random point
  static std::size_t products_of(const ClaimRows& record);
  // At the points that are sent. Secret until they are masked.
  using Sums = std::vector<Element, WipingAllocator<Element>>;
  void sum_group(Group& group, Element* out);
  bool sum_on_device(std::vector<Sums>& sums);
  Lifts lifts_of(const Group& group, const Element at[4]) const;
  std::vector<Lifts> all_lifts(const std::uint8_t* challenge) const;
  Element claim_of_points(const std::vector<Lifts>& lifts, const std::uint8_t* mine,
                          const std::uint8_t* theirs) const;
  // Of all groups, one after the other; they add to the claim. `keep`: the rows stay.
  void lift_all(const std::vector<Lifts>& lifts, bool keep, Element* x, Element* y, Element& claim);
  void lift_group(Group& group, const Lifts& lifts, Element* x, Element* y, Element& claim);
  OctetBatch& batch() override { return *on_device_; }
  void lift_again(const std::uint8_t* challenge, Element* x, Element* y) override;
  bool lift_on_device(const std::vector<Lifts>& lifts, Element& claim);
  Element set_weight(std::size_t set) const;
  std::vector<Element> set_weights(const Group& group) const;

  std::vector<Group> groups_;
  std::array<std::uint8_t, kSeedBytes> seed_;
  std::vector<Element> claim_;   // c
  Element sigma_[gf64::kLanes];  // of lane_at(p)
  std::vector<Element> rho_;
  // Of each block of a set: w^2 rho times claim_; for bits rho.
  std::vector<gf64::Lift> lift_, bit_lift_;
  std::unique_ptr<OctetBatch> on_device_;  // until it fails
};

}  // namespace tkdc
