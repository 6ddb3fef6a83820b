// SPDX-License-Identifier: Apache-2.0
// The one check of E on the labels in m1: each is the label that T commits to at its colour, and
// has the colour that it has to have (evaluate.h). In a file of its own: a test that shows what it
// prevents is linked with another in its place.
//
// Secret: labels and colours, the input. All wires in constant time; the answer is public.
#pragma once

#include "threegarble/tables.h"

namespace tkdc::threegarble {

// What was under a garbler's stream in m1.
struct OpenedM1 {
  garble::SecretLabels labels;
  SecretVector bits;
};

// `x_with_a`, `x_with_b`: E's components of the input, x_{e+1} and x_e.
bool labels_stand(const garble::Kernel& kernel, const Shape& shape, const CheckedTables& tables,
                  const OpenedM1& a, const OpenedM1& b, ByteSpan x_with_a, ByteSpan x_with_b);

}  // namespace tkdc::threegarble
