// SPDX-License-Identifier: Apache-2.0
#include "lut/des_polynomials.h"

#include <algorithm>
#include <bitset>
#include <optional>
#include <random>
#include <vector>

#include "field/gf256.h"
#include "lut/kernel.h"
#include "lut/sizes.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kInputs = 64, kUnknown = 2 * kTerms * kOctetBits;
using Terms = std::array<std::uint8_t, kTerms>;

// 1 and the powers of an octet.
constexpr Terms terms_of(std::uint8_t x) {
  Terms out{1};
  std::uint8_t power = x;
  for (std::size_t k = 0; k < kOctetBits; ++k, power = gf256_multiply(power, power)) {
    const std::uint8_t third = gf256_multiply(power, gf256_multiply(power, power));
    out[1 + k] = power;
    out[9 + k] = third;
    out[17 + k] = gf256_multiply(third, gf256_multiply(third, power));
  }
  return out;
}

std::uint8_t value_of(const Terms& coefficients, const Terms& at) {
  std::uint8_t out = 0;
  for (std::size_t k = 0; k < kTerms; ++k) out ^= gf256_multiply(coefficients[k], at[k]);
  return out;
}

// Unknown bits of p's and r's coefficients, and what they sum to.
using Equation = std::bitset<kUnknown + 1>;

// Four equations for each input: bits of p(X) q(X) + r(X).
std::vector<Equation> equations_of(const DesBox& box, const Terms& q) {
  std::vector<Equation> out(kInputs * kDesOut);
  for (unsigned x = 0; x < kInputs; ++x) {
    const Terms at = terms_of(static_cast<std::uint8_t>(x));
    const std::uint8_t turn = value_of(q, at);
    for (std::size_t j = 0; j < kUnknown; ++j) {
      const std::size_t term = j / kOctetBits % kTerms;
      const auto bit = static_cast<std::uint8_t>(1u << j % kOctetBits);
      std::uint8_t of = gf256_multiply(bit, at[term]);
      if (j < kTerms * kOctetBits) of = gf256_multiply(of, turn);
      for (std::size_t b = 0; b < kDesOut; ++b) out[x * kDesOut + b][j] = (of >> b & 1) != 0;
    }
    for (std::size_t b = 0; b < kDesOut; ++b)
      out[x * kDesOut + b][kUnknown] = (box[x] >> b & 1) != 0;
  }
  return out;
}

// A solution, unknowns that are free being 0, by Gauss and Jordan.
std::optional<std::bitset<kUnknown>> solve(std::vector<Equation> equations) {
  std::bitset<kUnknown> out;
  std::vector<std::size_t> pivots;
  for (std::size_t j = 0; j < kUnknown; ++j) {
    std::size_t row = pivots.size();
    while (row < equations.size() && !equations[row][j]) ++row;
    if (row == equations.size()) continue;
    std::swap(equations[row], equations[pivots.size()]);
    for (std::size_t k = 0; k < equations.size(); ++k)
      if (k != pivots.size() && equations[k][j]) equations[k] ^= equations[pivots.size()];
    pivots.push_back(j);
  }
  for (std::size_t k = pivots.size(); k < equations.size(); ++k)
    if (equations[k][kUnknown]) return std::nullopt;
  for (std::size_t k = 0; k < pivots.size(); ++k) out[pivots[k]] = equations[k][kUnknown];
  return out;
}

DesPolynomials polynomials_of(const DesBox& box) {
  std::mt19937_64 generator(1);  // the same everywhere
  for (;;) {
    DesPolynomials out{};
    for (std::uint8_t& one : out.q) one = static_cast<std::uint8_t>(generator());
    const auto bits = solve(equations_of(box, out.q));
    if (!bits) continue;
    for (std::size_t j = 0; j < kUnknown; ++j) {
      Terms& of = j < kTerms * kOctetBits ? out.p : out.r;
      of[j / kOctetBits % kTerms] |= static_cast<std::uint8_t>((*bits)[j] << j % kOctetBits);
    }
    return out;
  }
}

// Bits of X, X^3 and X^7, eight each.
struct PowersBits {
  Labels first, third, seventh;
};

// A polynomial as a sum of the bits of X, X^3 and X^7, and 1.
struct OfBits {
  std::uint8_t one = 0, factors[3][kOctetBits] = {};

  explicit OfBits(const Terms& coefficients) : one(coefficients[0]) {
    for (std::size_t part = 0; part < std::size(factors); ++part)
      for (std::size_t j = 0; j < kOctetBits; ++j) {
        auto power = static_cast<std::uint8_t>(1u << j);
        for (std::size_t i = 0; i < kOctetBits; ++i, power = gf256_multiply(power, power))
          factors[part][j] ^= gf256_multiply(coefficients[1 + part * kOctetBits + i], power);
      }
  }
  Label at(const PowersBits& bits, std::size_t k, const Dealer& dealer) const {
    const Labels* const of[] = {&bits.first, &bits.third, &bits.seventh};
    Label out = dealer.multiple(one);
    for (std::size_t part = 0; part < std::size(of); ++part)
      out = out ^ fastest_kernel().dot(&(*of[part])[k * kOctetBits], factors[part], kOctetBits);
    return out;
  }
};

struct BoxOfBits {
  OfBits p, q, r;
};

const BoxOfBits& box_of_bits(std::size_t box) {
  static const auto kAll = [] {
    std::vector<BoxOfBits> out;
    for (const DesPolynomials& of : des_polynomials())
      out.push_back({OfBits(of.p), OfBits(of.q), OfBits(of.r)});
    return out;
  }();
  return kAll[box];
}

// Octets of the 2^times-th powers.
Labels squares_of(const Labels& bits, unsigned times) {
  std::uint8_t factors[kOctetBits];
  for (std::size_t j = 0; j < kOctetBits; ++j) {
    factors[j] = static_cast<std::uint8_t>(1u << j);
    for (unsigned k = 0; k < times; ++k) factors[j] = gf256_multiply(factors[j], factors[j]);
  }
  Labels out(bits.size() / kOctetBits);
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = fastest_kernel().dot(&bits[k * kOctetBits], factors, kOctetBits);
  return out;
}

}  // namespace

const std::array<DesPolynomials, kDesBoxes>& des_polynomials() {
  static const auto kAll = [] {
    std::array<DesPolynomials, kDesBoxes> out{};
    std::transform(des_boxes().begin(), des_boxes().end(), out.begin(), polynomials_of);
    return out;
  }();
  return kAll;
}

Result<DesByPolynomials> DesByPolynomials::make(Dealer& dealer, std::size_t count) {
  auto triples = Triples::make(dealer, Width::kOctet, 3 * count);
  if (!triples) return triples.error();
  auto masks = BitMasks::make(dealer, 3 * count);
  if (!masks) return masks.error();
  return DesByPolynomials(std::move(*triples), std::move(*masks));
}

Result<void> DesByPolynomials::substitute(Dealer& dealer, std::span<const Label> in,
                                          std::span<Label> out) {
  const std::size_t count = in.size() / kDesIn;
  if (count > left())  // before the first of several messages
    return fail("lut: " + std::to_string(count) + " wanted and only " + std::to_string(left()) +
                " S-boxes left: make more of them first");
  PowersBits bits{Labels(count * kOctetBits), {}, {}};
  for (std::size_t k = 0; k < count; ++k)
    std::copy_n(&in[k * kDesIn], kDesIn, &bits.first[k * kOctetBits]);
  auto third = triples_.multiply(dealer, squares_of(bits.first, 0), squares_of(bits.first, 1));
  if (!third) return third.error();
  // Both need X^3 alone, and each takes a message.
  auto seventh = triples_.multiply(dealer, *third, squares_of(bits.first, 2));
  if (!seventh) return seventh.error();
  Labels both = *third;
  both.insert(both.end(), seventh->begin(), seventh->end());
  auto decomposed = masks_.decompose(dealer, both);
  if (!decomposed) return decomposed.error();
  const auto middle = decomposed->begin() + static_cast<std::ptrdiff_t>(count * kOctetBits);
  bits.third.assign(decomposed->begin(), middle);
  bits.seventh.assign(middle, decomposed->end());
  Labels p(count), q(count);
  for (std::size_t k = 0; k < count; ++k) {
    const BoxOfBits& of = box_of_bits(k % kDesBoxes);
    p[k] = of.p.at(bits, k, dealer);
    q[k] = of.q.at(bits, k, dealer);
  }
  auto sums = triples_.multiply(dealer, p, q);
  if (!sums) return sums.error();
  for (std::size_t k = 0; k < count; ++k)
    (*sums)[k] = (*sums)[k] ^ box_of_bits(k % kDesBoxes).r.at(bits, k, dealer);
  auto done = masks_.decompose(dealer, *sums);
  if (!done) return done.error();
  for (std::size_t k = 0; k < count; ++k)
    std::copy_n(&(*done)[k * kOctetBits], kDesOut, &out[k * kDesOut]);
  garble::wipe_stack();
  return {};
}

}  // namespace tkdc::lut
