// SPDX-License-Identifier: Apache-2.0
// Compressions in the shape of the fewest bits (ripple_schedule.h) on the CPU: each plane in
// words of memory, a round's products in one message (bit_planes.h).
//
// Semi-honest, or malicious with the claims recorded here. Everything is shares but how many
// columns there are. Used by one lane's thread.
#pragma once

#include "rep3/unit/bits/bit_planes.h"
#include "rep3/unit/sha1/ripple_cohort.h"
#include "rep3/unit/sha1/ripple_schedule.h"

namespace tkdc::sha1 {

using bits::kPlaneBits;
using bits::load_be;
using bits::PlaneProducts;
using bits::Planes;
using bits::store_be;
using bits::transpose;

class Ripple final : public RippleCohort, private PlaneMachine {
 public:
  Ripple(int party, ClaimLog* claims, std::vector<RippleBlock> blocks);
  ~Ripple() override;  // not in a coroutine's own code: see SharedBytes

  bool next() override;
  std::size_t bytes() const override { return products_.bytes(); }
  void write(std::uint8_t* message) override { products_.write(message); }
  void read(const std::uint8_t* mine, const std::uint8_t* theirs) override {
    products_.read(mine, theirs, claims_);
  }
  // A round whose claims have been recorded: by a device that failed after it.
  void replay(const std::uint8_t* mine, const std::uint8_t* theirs) {
    products_.read(mine, theirs, nullptr);
  }

 private:
  void sum(PlaneNumber to, std::initializer_list<PlaneNumber> of) override;
  void product(PlaneNumber a, PlaneNumber b, PlaneNumber c, PlaneNumber d, PlaneNumber to) override;
  void load();
  enum class From : std::uint8_t { kState, kData };
  void load_word(From from, std::size_t word, std::size_t first_plane, int rotated);
  void store();

  const int party_;
  ClaimLog* const claims_;
  const std::vector<RippleBlock> blocks_;
  PlaneProducts products_;
  Planes planes_;
  RippleSchedule schedule_;
};

}  // namespace tkdc::sha1
