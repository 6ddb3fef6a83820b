// SPDX-License-Identifier: Apache-2.0
// The check between an evaluator's masked values and what the garbler says about them.
//
// The garbler's MAC digest is made for the values Λ that the evaluator sent. For wrong ones it
// would answer a question: an evaluator that flips Λ_α can compute the digest for both values of a
// neighbour's mask, and sees which it is. So the garbler says nothing before it has found that the
// labels which the evaluator evaluated are those of the values it sent. A file of its own: the
// control of that attack replaces it (tests/unit/pair/unchecked_labels.cc).
#pragma once

#include "garble/label.h"

namespace tkdc::pair {

// Whether the digests of labels are equal.
bool labels_fit(const garble::Label& own, const garble::Label& said);

}  // namespace tkdc::pair
