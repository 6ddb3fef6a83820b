// SPDX-License-Identifier: Apache-2.0
// 3DES-Raw: a DES S-box with neither tables nor larger fields. Keller and others (ACNS 2017,
// section 5) compare theirs with a polynomial of degree 62 over GF(2^6), 62 products in a row; ours
// is a circuit of ANDs: one-hot vectors u and v of three bits each, and of each output bit
//
//   y = w_0 ⊕ Σ_{i>0} u_i (w_i ⊕ w_0)      w_i = Σ_j S(i, j) v_j
//
// 8 ANDs for the vectors and 28 for the outputs, three rounds: 138 for a block. The paper's has
// 2,979 rounds.
//
// share level: labels of both sum to bits of S(x), times (1, Δ); tests/unit/lut/des_test.cc.
//
// Calls block; one thread. Secret: labels. Error: the session's; not enough left.
#pragma once

#include "lut/des.h"

namespace tkdc::lut {

class DesByCircuit {
 public:
  static constexpr std::size_t kAnds = 36;  // of an S-box

  // For so many S-boxes. Checked when they come back.
  static Result<DesByCircuit> make(Dealer& dealer, std::size_t count);

  std::size_t left() const { return triples_.left() / kAnds; }
  std::size_t octets() const { return triples_.octets(); }
  // As SubstituteSix. What has been opened is to be checked before anything is put out (dealer.h).
  Result<void> substitute(Dealer& dealer, std::span<const Label> in, std::span<Label> out);

 private:
  friend struct Inside;  // tests/unit/lut
  explicit DesByCircuit(Triples triples) : triples_(std::move(triples)) {}
  Result<Labels> vectors(Dealer& dealer, std::span<const Label> in);
  Triples triples_;
};

}  // namespace tkdc::lut
