// SPDX-License-Identifier: Apache-2.0
// Where the bulk of a batch's octet claims may be checked instead of on this CPU: what
// octet_check.cc and inner_product.h ask of a device. The engine knows of none: an AES backend
// brings one (rep3/unit/aes/cohort.h).
//
// The results are those of gf64.h's kernels, element for element, so that nobody on the wire can
// tell. A call that returns false says that the device has failed: the rows stay on the host until
// the vectors have come back, and the CPU does once more from them what the device had done.
// Secret: all but weights, maps and sizes. Used by one lane's thread.
#pragma once

#include <memory>

#include "rep3/verify/gf64.h"

namespace tkdc {

// One batch on a device: points() and lift(), then folds. Records are those that begin() got, and
// what stands here for each of them is in that order. What pointers lead to stays until the call
// returns.
class OctetBatch {
 public:
  using Element = gf64::Element;
  static constexpr std::size_t kBlocksPerSet = 64;
  static constexpr int kVariables = 2;  // of a fold
  static constexpr std::size_t kMostFetched = 8192;

  struct Points {
    const gf64::OctetProducts* shape;  // of octets
    std::vector<Element> of_set;       // each set's weight
  };
  // What is equal for all records: of a set's blocks, those of octets for each of `claims`; `sigma`
  // of lane lane_at(p).
  struct Weights {
    const std::vector<gf64::Lift>&of_octets, &of_bits;
    std::size_t claims;
    const Element* sigma;
  };
  // A record's linear maps at the random point.
  struct Maps {
    std::vector<std::vector<gf64::StrandLift>> x, y;  // of octets: of each factor
    gf64::Lift slots[4];                              // of bits: as lift_bits() takes them
    std::vector<Element> of_lane;                     // of bits: weights of y's 512 elements
    std::vector<gf64::StrandLift> z;
  };
  struct Lifts {
    const Maps* maps;
    std::vector<Element> of_block;
  };

  virtual ~OctetBatch() = default;
  // For each record as many elements as it has extra points, kExtraPoints or kBitPoints.
  virtual bool points(const Weights& weights, const std::vector<Points>& records, Element* out) = 0;
  // Both vectors, record after record; what their z add to the claim.
  virtual bool lift(const Element* sigma, const std::vector<Lifts>& records, Element& claim) = 0;
  // gf64::Kernels' points and fold in kVariables variables.
  virtual bool points_of_parts(std::size_t stride, Element* out) = 0;
  virtual bool fold(std::size_t stride, const Element* at) = 0;
  // The first n elements, kMostFetched at most.
  virtual bool fetch(std::size_t n, Element* x, Element* y) = 0;
};

class OctetDevice {
 public:
  virtual ~OctetDevice() = default;
  // Starts on copying the records' rows. `products`: elements of a vector. Null: too few to pay,
  // too many, or no device that works.
  virtual std::unique_ptr<OctetBatch> begin(const std::vector<ClaimRows*>& records,
                                            std::size_t products) = 0;
};

}  // namespace tkdc
