// SPDX-License-Identifier: Apache-2.0
// What each party has to find of labels before it says anything that depends on them.
//
// The garbler, of masked values: its MAC digest is made for the values Λ that the evaluator sent.
// For wrong ones it would answer a question: an evaluator that flips Λ_α can compute the digest for
// both values of a neighbour's mask, and sees which it is. So the garbler says nothing before it
// has found that the labels which the evaluator evaluated are those of the values it sent.
//
// The evaluator, of inputs' labels: their colours choose what it computes, and Λ says what it
// should have computed. A garbler that sends the other label of an input would see from whether the
// run ends what the neighbouring inputs are. So the evaluator says nothing unless they agree.
//
// A file of its own: the controls of both attacks replace it (tests/unit/pair/unchecked_labels.cc).
#pragma once

#include <sodium.h>

#include <span>

#include "base/now_public.h"
#include "garble/label.h"

namespace tkdc::pair {

// In constant time; that they differ is public.
inline bool digests_equal(const garble::Label& a, const garble::Label& b) {
  const garble::Label differ = a ^ b;
  now_public(&differ, sizeof differ);
  return sodium_is_zero(reinterpret_cast<const unsigned char*>(&differ), sizeof differ) == 1;
}

// Whether the digests of labels are equal.
bool labels_fit(const garble::Label& own, const garble::Label& said);
// Whether the colours of inputs' labels are their masked values, which are public.
bool colours_fit(std::span<const garble::Label> labels, std::span<const std::uint8_t> values);

}  // namespace tkdc::pair
