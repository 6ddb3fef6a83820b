// SPDX-License-Identifier: Apache-2.0
#include "lut/des_circuit.h"

#include <algorithm>

#include "lut/kernel.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kLowBits = 3, kEight = 8;

}  // namespace

Result<DesByCircuit> DesByCircuit::make(Dealer& dealer, std::size_t count) {
  auto triples = Triples::make(dealer, Width::kBit, kAnds * count);
  if (!triples) return triples.error();
  return DesByCircuit(std::move(*triples));
}

// One-hot vectors of each three bits.
Result<Labels> DesByCircuit::vectors(Dealer& dealer, std::span<const Label> in) {
  const std::size_t count = in.size() / kLowBits;
  Labels x, y;
  for (std::size_t k = 0; k < count; ++k) {
    x.push_back(in[kLowBits * k]);
    y.push_back(in[kLowBits * k + 1]);
  }
  auto pairs = triples_.multiply(dealer, x, y);
  if (!pairs) return pairs;
  Labels out(count * kEight), turns;
  x.clear();
  for (std::size_t k = 0; k < count; ++k) {
    const Label &low = in[kLowBits * k], &high = in[kLowBits * k + 1], &both = (*pairs)[k];
    const Label of[] = {dealer.multiple(1) ^ low ^ high ^ both, low ^ both, high ^ both, both};
    std::copy(std::begin(of), std::end(of), &out[k * kEight]);
    for (std::size_t j = 1; j < 4; ++j) {
      x.push_back(of[j]);
      turns.push_back(in[kLowBits * k + 2]);
    }
  }
  auto upper = triples_.multiply(dealer, x, turns);
  if (!upper) return upper;
  for (std::size_t k = 0; k < count; ++k) {
    Label *e = &out[k * kEight], rest = in[kLowBits * k + 2];
    for (std::size_t j = 1; j < 4; ++j) {
      e[4 + j] = (*upper)[3 * k + j - 1];
      rest = rest ^ e[4 + j];
    }
    e[4] = rest;
    for (std::size_t j = 0; j < 4; ++j) e[j] = e[j] ^ e[4 + j];
  }
  return out;
}

Result<void> DesByCircuit::substitute(Dealer& dealer, std::span<const Label> in,
                                      std::span<Label> out) {
  const std::size_t count = in.size() / kDesIn;
  if (count > left())  // before the first of several messages
    return fail("lut: " + std::to_string(count) + " wanted and only " + std::to_string(left()) +
                " S-boxes left: make more of them first");
  auto made = vectors(dealer, in);
  if (!made) return made.error();
  Labels turns, sums;
  turns.reserve(count * kDesOut * (kEight - 1));
  sums.reserve(count * kDesOut * (kEight - 1));
  for (std::size_t k = 0; k < count; ++k) {
    const DesBox& box = des_boxes()[k % kDesBoxes];
    const Label *low = &(*made)[2 * k * kEight], *high = low + kEight;
    for (std::size_t bit = 0; bit < kDesOut; ++bit) {
      // Σ_j S(i, j) v_j, i of the high three bits; and that of 0 added to it.
      const auto row = [&](std::size_t i) {
        std::uint8_t factors[kEight];
        for (std::size_t j = 0; j < kEight; ++j) factors[j] = box[i * kEight + j] >> bit & 1;
        return fastest_kernel().dot(low, factors, kEight);
      };
      const Label first = row(0);
      out[k * kDesOut + bit] = first;
      for (std::size_t i = 1; i < kEight; ++i) {
        turns.push_back(high[i]);
        sums.push_back(row(i) ^ first);
      }
    }
  }
  auto products = triples_.multiply(dealer, turns, sums);
  if (!products) return products.error();
  for (std::size_t k = 0; k < products->size(); ++k) {
    Label& to = out[k / (kEight - 1)];
    to = to ^ (*products)[k];
  }
  garble::wipe_stack();
  return {};
}

}  // namespace tkdc::lut
