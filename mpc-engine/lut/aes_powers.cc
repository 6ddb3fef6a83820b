// SPDX-License-Identifier: Apache-2.0
#include "lut/aes_powers.h"

#include <algorithm>

#include "field/gf256.h"
#include "lut/kernel.h"
#include "lut/sizes.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t products_of(Powers powers) { return powers == Powers::kAllSquares ? 6 : 4; }
constexpr std::size_t masks_of(Powers powers) { return powers == Powers::kAllSquares ? 2 : 4; }

// What eight bits are multiplied by so that they sum to a linear map of their octet.
using Factors = std::array<std::uint8_t, kOctetBits>;

constexpr Factors factors_of(auto map) {
  Factors out{};
  for (std::size_t j = 0; j < kOctetBits; ++j) out[j] = map(static_cast<std::uint8_t>(1u << j));
  return out;
}

constexpr Factors squared(unsigned times) {
  return factors_of([times](std::uint8_t x) {
    for (unsigned k = 0; k < times; ++k) x = gf256_multiply(x, x);
    return x;
  });
}

// That map of every octet of whose bits these are.
Labels map_of(std::span<const Label> bits, const Factors& factors) {
  Labels out(bits.size() / kOctetBits);
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = fastest_kernel().dot(&bits[k * kOctetBits], factors.data(), kOctetBits);
  return out;
}

Labels behind(Labels first, const Labels& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

Result<PowerBoxes> PowerBoxes::make(Dealer& dealer, Powers powers, std::size_t count) {
  auto triples = Triples::make(dealer, Width::kOctet, products_of(powers) * count);
  if (!triples) return triples.error();
  auto masks = BitMasks::make(dealer, masks_of(powers) * count);
  if (!masks) return masks.error();
  return PowerBoxes(powers, std::move(*triples), std::move(*masks));
}

std::size_t PowerBoxes::left() const {
  return std::min(triples_.left() / products_of(powers_), masks_.left() / masks_of(powers_));
}

Result<Labels> PowerBoxes::by_all_squares(Dealer& dealer, std::span<const Label> octets) {
  const std::size_t count = octets.size();
  auto bits = masks_.decompose(dealer, octets);
  if (!bits) return bits;
  Labels left, right;
  for (const unsigned k : {1u, 3u, 5u}) {
    left = behind(std::move(left), map_of(*bits, squared(k)));
    right = behind(std::move(right), map_of(*bits, squared(k + 1)));
  }
  auto pairs = triples_.multiply(dealer, left, right);  // x^6, x^24, x^96
  if (!pairs) return pairs;
  const auto of = [&](std::size_t k) { return std::span(*pairs).subspan(k * count, count); };
  left.assign(of(0).begin(), of(0).end());
  left.insert(left.end(), of(2).begin(), of(2).end());
  right.assign(of(1).begin(), of(1).end());
  right = behind(std::move(right), map_of(*bits, squared(7)));
  auto halves = triples_.multiply(dealer, left, right);  // x^30, x^224
  if (!halves) return halves;
  return triples_.multiply(dealer, std::span(*halves).first(count),
                           std::span(*halves).subspan(count));
}

Result<Labels> PowerBoxes::by_short_chain(Dealer& dealer, std::span<const Label> octets) {
  const std::size_t count = octets.size();
  auto bits = masks_.decompose(dealer, octets);
  if (!bits) return bits;
  const Labels square = map_of(*bits, squared(1));
  auto third = triples_.multiply(dealer, octets, square);
  if (!third) return third;
  bits = masks_.decompose(dealer, *third);
  if (!bits) return bits;
  const Labels twelfth = map_of(*bits, squared(2));
  auto both =
      triples_.multiply(dealer, behind(twelfth, twelfth), behind(square, *third));  // x^14, x^15
  if (!both) return both;
  bits = masks_.decompose(dealer, std::span(*both).subspan(count));
  if (!bits) return bits;
  return triples_.multiply(dealer, map_of(*bits, squared(4)), std::span(*both).first(count));
}

Result<void> PowerBoxes::look_up(Dealer& dealer, std::span<Label> octets) {
  if (octets.size() > left())  // before the first of several messages
    return fail("lut: " + std::to_string(octets.size()) + " wanted and only " +
                std::to_string(left()) + " S-boxes left: make more of them first");
  auto inverse = powers_ == Powers::kAllSquares ? by_all_squares(dealer, octets)
                                                : by_short_chain(dealer, octets);
  if (!inverse) return inverse.error();
  auto bits = masks_.decompose(dealer, *inverse);
  if (!bits) return bits.error();
  static constexpr Factors kAffine = factors_of(affine_of_sbox);
  const Labels mapped = map_of(*bits, kAffine);
  for (std::size_t k = 0; k < octets.size(); ++k) octets[k] = mapped[k] ^ dealer.multiple(0x63);
  garble::wipe_stack();
  return {};
}

}  // namespace tkdc::lut
