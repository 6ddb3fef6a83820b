// SPDX-License-Identifier: Apache-2.0
// m1, the garblers' message with the job. Every input bit x = x_e ⊕ x_{e+1} ⊕ x_{e+2} has two
// wires: u for x_{e+1} ⊕ x_{e+2}, which A knows, and v for x_e, which B knows.
//
//   A → E   D_pub ‖ K_v(D) ‖ (labels of u for x_{e+1} ⊕ x_{e+2} ‖ colours of v's zero-labels)
//                                                                          ⊕ Stream(K_u(D))
//   B → E   D_pub ‖ K_u(D) ‖ (labels of v for x_e ‖ b' = colours of u's zero-labels ⊕ x_{e+2})
//                                                                          ⊕ Stream(K_v(D))
//   K_*(D) = PRF(k_{e+2}; *, instance, D)
//
// Each garbler hides its labels under a key that the other one sends, so E reads them only if both
// encode the same job. What each sends beside its labels is what E holds the other's labels
// against: so neither can give E a label that it should not have (evaluate.h).
//
// Secret: all of it but D_pub. An instance is moved in: it serves once.
#pragma once

#include "protocol/shared_bytes.h"
#include "threegarble/binding.h"
#include "threegarble/tables.h"

namespace tkdc::threegarble {

// Of either garbler.
inline std::size_t m1_bytes(const Shape& shape) {
  return kDigestBytes + kKeyBytes + shape.in_bits * garble::kLabelBytes + shape.in_bytes();
}

// What a garbler still needs when m2 comes.
struct Encoded {
  SecretVector m1;
  GarbledInstance instance;
  garble::SecretLabels delta{1};
  SecretVector component_digest;
};
Encoded encode(const Seat& seat, const Shape& shape, GarbledInstance instance,
               const Digest& public_digest, const SharedBytes& input);

}  // namespace tkdc::threegarble
