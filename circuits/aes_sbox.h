// SPDX-License-Identifier: Apache-2.0
// The AES S-box and its inverse with 32 ANDs each (FIPS 197, sections 5.1.1 and 5.3.2).
//
// Inversion goes down the tower GF(2^8) over GF(16) over GF(4) (Itoh and Tsujii 1988; Canright,
// CHES 2005), in normal bases. With a = A Y + B Y^16, A and B in GF(16), Y + Y^16 = 1:
//   N = a^17 = A B + (A + B)^2 Y^17,   a^-1 = A N^-1 Y^16 + B N^-1 Y.
// A product in GF(16) takes 9 ANDs (Karatsuba twice), the inversion of N takes 5, which is the
// least (Boyar and Peralta 2010): 9 + 5 + 18 = 32, AND depth 5. What is linear before and after is
// one LinearMap each. All constants follow from three field elements.
#pragma once

#include "circuit/linear_map.h"
#include "circuits/vocabulary.h"
#include "field/gf256.h"

namespace tkdc::circuits {

class AesSbox {
 public:
  static const AesSbox& forward();
  static const AesSbox& inverse();

  // One octet.
  template <Context C>
  Bits<C> operator()(C& c, BitSpan<C> octet) const {
    Bits<C> x(octet.begin(), octet.end());
    complement(c, x, before_);
    // The forms of A and of B that Karatsuba multiplies, and (A + B)^2 Y^17.
    const Bits<C> top = top_(c, BitSpan<C>(x));
    Bits<C> norm;
    for (std::size_t k = 0; k < kForms; ++k) norm.push_back(c.and_of(top[k], top[kForms + k]));
    norm.insert(norm.end(), top.begin() + 2 * kForms, top.end());
    const Bits<C> inverted = forms_(c, BitSpan<C>(invert(c, norm_(c, BitSpan<C>(norm)))));
    Bits<C> products;
    for (std::size_t k = 0; k < 2 * kForms; ++k)
      products.push_back(c.and_of(top[k], inverted[k % kForms]));
    Bits<C> out = bottom_(c, BitSpan<C>(products));
    complement(c, out, after_);
    return out;
  }

 private:
  static constexpr std::size_t kForms = 9;
  // `before` and `after` are added; `from` maps an input to what is inverted, `to` the inverse.
  AesSbox(std::uint8_t before, std::uint8_t (*from)(std::uint8_t), std::uint8_t (*to)(std::uint8_t),
          std::uint8_t after);

  template <Context C>
  static void complement(C& c, Bits<C>& bits, std::uint8_t which) {
    for (std::size_t k = 0; k < 8; ++k)
      if ((which >> k & 1) != 0) bits[k] = c.not_of(bits[k]);
  }
  // x^14 in GF(16): found by a search over products of sums, checked over all x in the tests.
  template <Context C>
  static Bits<C> invert(C& c, const Bits<C>& x) {
    const auto low = c.xor_of(x[0], x[1]), high = c.xor_of(x[2], x[3]);
    const auto both = c.and_of(x[0], x[2]);
    const auto g = c.and_of(low, c.xor_of(x[3], both));
    const auto h = c.and_of(high, c.xor_of(x[1], both));
    const auto u = c.and_of(x[1], c.xor_of(both, g));
    const auto v = c.and_of(x[3], c.xor_of(both, h));
    return {c.xor_of(high, c.xor_of(h, v)), c.xor_of(x[3], h), c.xor_of(low, c.xor_of(g, u)),
            c.xor_of(x[1], g)};
  }

  std::uint8_t before_, after_;
  circuit::LinearMap top_, norm_, forms_, bottom_;
};

}  // namespace tkdc::circuits
