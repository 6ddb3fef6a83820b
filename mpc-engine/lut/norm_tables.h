// SPDX-License-Identifier: Apache-2.0
// AES-T16: AES's S-box by its norm in GF(16) and tables of 16 entries, in place of one of 256
// (Keller and others, ACNS 2017, section 4.1). Ours; the tower is that of Itoh, Tsujii, "A Fast
// Algorithm for Computing Multiplicative Inverses in GF(2^m) Using Normal Bases" (1988).
//
// For x in GF(2^8), c(x) = x^16 is linear and N = x c(x) is in GF(16); x^-1 = c(x) N^-1. With
// random s in GF(2^8), m and m' in GF(16):
//
//   open h = x ⊕ s       [N] = N(h) ⊕ h [c(s)] ⊕ c(h) [s] ⊕ [N(s)]
//   open g = N ⊕ m       [N^-1] = Σ_j (g ⊕ j)^-1 [e_j], e the one-hot vector of m
//   open f = N^-1 ⊕ m'   [x^-1] = c(h) f ⊕ c(h) [m'] ⊕ f [c(s)] ⊕ [c(s) m']
//
// and the affine map on the bits of m', s and c(s) m'. Of the inverse S-box, whose affine map comes
// first, x ⊕ A(s) is opened: its inverse map is h for x' ⊕ s, x' what is to be inverted. Ahead: 16
// random bits, 16 bits of N(s), 11 of e and 32 of c(s) m'; 32 labels are kept, 512 octets, of an
// S-box. Three rounds each.
//
// Each serves once (stock.h), and its labels are wiped then.
//
// share level: labels of both sum to S(x) (1, Δ), or to the inverse's;
// tests/unit/lut/norm_tables_test.cc.
//
// Calls block; one thread. Secret: all but h, g, f. Error: the session's; not enough tables.
#pragma once

#include "lut/demux.h"
#include "lut/sbox_tables.h"
#include "lut/stock.h"

namespace tkdc::lut {

class NormTables final : public SboxTables {
 public:
  static constexpr std::size_t kLabels = 32;  // of an S-box
  using Way = SboxWay;

  // Checked when they come back.
  static Result<NormTables> make(Dealer& dealer, std::size_t count) {
    return make_for(dealer, count, Way::kForward);
  }
  static Result<NormTables> make_inverse(Dealer& dealer, std::size_t count) {
    return make_for(dealer, count, Way::kInverse);
  }

  Way way() const override { return way_; }
  std::size_t left() const { return stock_.left(); }
  Result<void> fits(const pair::Session& session, std::size_t count) const override {
    return stock_.fits(session, count);
  }
  std::size_t octets() const { return labels_.size() * kLabelBytes; }
  Result<void> look_up(Dealer& dealer, std::span<Label> octets) override;

 private:
  friend struct Inside;  // tests/unit/lut
  explicit NormTables(Way way) : way_(way) {}
  static Result<NormTables> make_for(Dealer& dealer, std::size_t count, Way way);
  Way way_;
  Stock stock_;
  Labels labels_;
};

}  // namespace tkdc::lut
