// SPDX-License-Identifier: Apache-2.0
// E's work with the job: m1 of both garblers in, m2 and E's share of the result out.
//
// What is checked, before anything is evaluated: that both say D_pub as this server has it; then
// of every input wire, as one bit for all of them, that the label is the one that T commits to at
// its colour, and that its colour is
//   of u (from A):   b' ⊕ x_{e+1}, with b' from B
//   of v (from B):   v's zero-label's colour ⊕ x_e, with that colour from A
// So one garbler's labels are held against what the other one says. Whoever changes anything of m1
// is found for every input alike.
//
//   m2  E → A   colours c' of the labels of y ⊕ ρ ‖ digest of those labels
//
// E's share: y_e = ρ, y_{e+1} = c'. No branch and no address depends on a bit of it. Where a check
// fails nothing is evaluated, and m2 is zeros.
#pragma once

#include <optional>

#include "threegarble/encode.h"

namespace tkdc::threegarble {

inline std::size_t m2_bytes(const Shape& shape) { return shape.out_bytes() + kDigestBytes; }

// Whether a garbler's m1 says D_pub as this server has it.
bool is_of_job(ByteSpan m1, const Digest& public_digest);

struct Evaluated {
  SecretVector m2;
  SharedBytes share;
};
// Nothing: unreadable.
std::optional<Evaluated> evaluate(const Seat& seat, const Shape& shape, CheckedTables tables,
                                  const Digest& public_digest, const SharedBytes& input,
                                  ByteSpan from_a, ByteSpan from_b);

// A's side of m2: y_{e+1}, or nothing where E does not have those labels.
std::optional<SecretVector> accept_m2(const Shape& shape, const Encoded& encoded,
                                      const Digest& public_digest, ByteSpan m2);

// A's or B's y_{e+2}: the colours of the zero-labels of y ⊕ ρ.
SecretVector garblers_component(const Shape& shape, const GarbledInstance& instance);

}  // namespace tkdc::threegarble
