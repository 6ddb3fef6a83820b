// SPDX-License-Identifier: Apache-2.0
// 3DES-LT: masked tables of 64 entries of four bits, each for one lookup (Keller and others, ACNS
// 2017, sections 4 and 4.3).
//
//   ahead    s, six random bits, and its one-hot vector e (demux.h)
//   online   h = x ⊕ s opened; bit b of the output is Σ_j T_b(h ⊕ j) [e_j]
//
// What is kept of a table is e's 64 labels, and s. Expanded it is the table's 64 entries of four
// labels, a cache line each; then a lookup is one read of memory, else four sums of 64 terms. Table
// k of those that are made is for S-box k % 8, so they serve by eights.
//
// Each serves once (stock.h). A mask is wiped as it is used; entries go with the tables. Of an
// opened octet six bits count as a place. The other two are 0, or its check fails.
//
// share level: labels of both sum to bits of S(x), times (1, Δ); tests/unit/lut/des_test.cc.
//
// Calls block; one thread. Secret: s, e. Public: h. Error: the session's; not enough tables.
#pragma once

#include "lut/des.h"

namespace tkdc::lut {

class DesTables {
 public:
  // `count`: of S-boxes, a multiple of eight. Checked when they come back.
  static Result<DesTables> make(Dealer& dealer, std::size_t count);

  void expand();
  std::size_t left() const { return stock_.left(); }
  std::size_t octets() const { return (masks_.size() + labels_.size()) * kLabelBytes; }
  // As SubstituteSix, of a multiple of eight S-boxes: one round. What has been opened is to be
  // checked before anything is put out (dealer.h).
  Result<void> substitute(Dealer& dealer, std::span<const Label> in, std::span<Label> out);

 private:
  friend struct Inside;  // tests/unit/lut
  DesTables() = default;
  std::size_t kept() const { return expanded_ ? kDesOut * kPlaces : kPlaces; }
  static constexpr std::size_t kPlaces = 64;
  Stock stock_;
  Labels masks_, labels_;
  bool expanded_ = false;
};

}  // namespace tkdc::lut
