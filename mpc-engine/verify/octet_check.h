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
// Claims of different forms have an h of their own; from there on the g-th form's
// count times gamma^g, gamma opened with the point, or equal errors in two forms'
// values would cancel.
#pragma once

#include <map>

#include "verify/inner_product.h"

namespace tkdc {

// What of a form does not depend on challenges, made once for each.
class OctetForms {
 public:
  struct Prepared;
  OctetForms();
  ~OctetForms();
  const Prepared& of(const ClaimForm& form);

 private:
  std::map<const ClaimForm*, std::unique_ptr<Prepared>> prepared_;
};

class OctetCheck {
 public:
  using Element = gf64::Element;
  static constexpr std::size_t kSeedBytes = 32;
  static constexpr std::size_t kChallengeBytes = 5 * Gf64Field::kBytes;  // a point, gamma

  OctetCheck(std::vector<std::unique_ptr<ClaimRecord>> claims, const std::uint8_t* seed,
             OctetForms& forms);
  ~OctetCheck();

  std::size_t message_bytes() const;
  void points(std::uint8_t* out);
  // Sets the inner product: the lanes' products at the point, and their claim.
  void fold(const std::uint8_t* mine, const std::uint8_t* theirs, const std::uint8_t* challenge,
            InnerProductCheck<Gf64Field>& out, SecretPool& pool);

 private:
  static constexpr std::size_t kBlocksPerSet = 64;

  struct Group {  // the claims of one form
    const ClaimForm* form;
    const OctetForms::Prepared* prepared;
    std::unique_ptr<ClaimRecord> record;
    std::size_t extra = 0;      // points sent
    std::size_t first_set = 0;  // sets are numbered through all groups
    bool bits() const { return form->product == ClaimForm::Product::kBits; }
  };
  struct Lifts;  // a group's linear maps at the random point
  void sum_group(Group& group, Element* out);
  Lifts lifts_of(const Group& group, const Element at[4]) const;
  void lift_group(Group& group, const Lifts& lifts, Element weight, std::size_t& at,
                  InnerProductCheck<Gf64Field>& out);
  Element set_weight(std::size_t set) const;

  std::vector<Group> groups_;
  std::array<std::uint8_t, kSeedBytes> seed_;
  std::vector<Element> claim_;   // c
  Element sigma_[gf64::kLanes];  // of lane_at(p)
  std::vector<Element> rho_;
  // Of each block of a set: w^2 rho times claim_; for bits rho.
  std::vector<gf64::Lift> lift_, bit_lift_;
};

}  // namespace tkdc
