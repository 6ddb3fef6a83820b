// SPDX-License-Identifier: Apache-2.0
// The two fields of the inner-product check, behind one interface: octet claims
// in GF(2^64), GHASH's claims in GF(2^128) of GCM. Elements travel as they
// stand in memory: GF(2^64) little-endian, GF(2^128) in GCM's order.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "base/secret_pool.h"
#include "field/gf128.h"
#include "rep3/octet_map.h"
#include "rep3/verify/gf64.h"
#include "rep3/verify/points.h"

namespace tkdc {

struct Gf64Field {
  using Element = std::uint64_t;
  static constexpr std::size_t kBytes = 8;
  static Element add(Element a, Element b) { return a ^ b; }
  static Element multiply(Element a, Element b) { return gf64::multiply(a, b); }
  static Element one() { return 1; }
  // Of order 3: the image of the AES field's (rep3/octet_map.h).
  static Element omega() {
    static const Element omega = gf64::embed(kOmega);
    return omega;
  }

  // The sum of a[k] b[k].
  static Element dot(std::size_t n, const Element* a, const Element* b) {
    const std::size_t whole = n / 8 * 8;
    Element sum = gf64::kernels().dot(whole, a, b);
    for (std::size_t k = whole; k < n; ++k) sum ^= multiply(a[k], b[k]);
    return sum;
  }
  // Appends factor * in[k] for all k.
  static void append_scaled(Element factor, const std::vector<Element>& in,
                            std::vector<Element>& out) {
    const std::size_t at = out.size(), whole = in.size() / 8 * 8;
    out.resize(at + in.size());
    for (std::size_t k = 0; k < whole; k += 8)
      gf64::kernels().add_scaled(factor, &in[k], &out[at + k]);
    for (std::size_t k = whole; k < in.size(); ++k) out[at + k] = multiply(factor, in[k]);
  }

  static void points(int n, std::size_t stride, const Element* x, const Element* y, Element* out) {
    gf64::kernels().points(n, stride, {x, y}, out);
  }
  static void fold(int n, std::size_t stride, Element* x, Element* y, const Element* at) {
    gf64::kernels().fold(n, stride, {x, y}, at);
  }
};

struct Gf128Field {
  struct Element {
    std::array<std::uint8_t, kGf128Bytes> octet{};
    Element operator^(const Element& b) const {
      Element sum = *this;
      xor_bytes(sum.octet.data(), b.octet.data(), kGf128Bytes);
      return sum;
    }
    bool operator==(const Element&) const = default;
  };
  static constexpr std::size_t kBytes = kGf128Bytes;
  static Element add(const Element& a, const Element& b) { return a ^ b; }
  static Element multiply(const Element& a, const Element& b) {
    Element product;
    gf128_multiply_add(product.octet.data(), a.octet.data(), b.octet.data());
    return product;
  }
  static Element one() {
    Element e;
    e.octet[0] = 0x80;
    return e;
  }
  static Element dot(std::size_t n, const Element* a, const Element* b) {
    Element sum;
    for (std::size_t k = 0; k < n; ++k) sum = sum ^ multiply(a[k], b[k]);
    return sum;
  }
  static void append_scaled(const Element& factor, const std::vector<Element>& in,
                            std::vector<Element>& out) {
    for (const Element& one : in) out.push_back(multiply(factor, one));
  }

  // Of order 3: one() to the power of a third of 2^128 - 1, of the generator t.
  static Element omega() {
    static const Element omega = [] {
      Element t, power = one();
      t.octet[0] = 0x40;
      for (int bit = 127; bit >= 0; --bit) {
        power = multiply(power, power);
        if (bit % 2 == 0) power = multiply(power, t);
      }
      return power;
    }();
    return omega;
  }

  static void points(int n, std::size_t stride, const Element* x, const Element* y, Element* out) {
    switch (n) {
      case 1: return points_of<1>(stride, x, y, out);
      case 2: return points_of<2>(stride, x, y, out);
      case 3: return points_of<3>(stride, x, y, out);
      case 4: return points_of<4>(stride, x, y, out);
      default: return points_of<5>(stride, x, y, out);
    }
  }
  static void fold(int n, std::size_t stride, Element* x, Element* y, const Element* at) {
    for (Element* v : {x, y})
      for (std::size_t k = 0; k < stride; ++k) {
        Element sum;
        for (std::size_t i = 0; i < std::size_t{1} << n; ++i)
          sum = sum ^ multiply(at[i], v[i * stride + k]);
        v[k] = sum;
      }
  }

 private:
  template <int n>
  static void points_of(std::size_t stride, const Element* x, const Element* y, Element* out) {
    constexpr std::size_t kParts = std::size_t{1} << n, kAll = tkdc::points(n);
    for (std::size_t p = 0; p < kAll; ++p) out[p] = Element();
    for (std::size_t k = 0; k < stride; ++k) {
      Element x_part[kParts], y_part[kParts], x_at[kAll], y_at[kAll];
      for (std::size_t i = 0; i < kParts; ++i) {
        x_part[i] = x[i * stride + k];
        y_part[i] = y[i * stride + k];
      }
      spread_points<n>(x_part, x_at);
      spread_points<n>(y_part, y_at);
      for (std::size_t p = 0; p < kAll; ++p) out[p] = out[p] ^ multiply(x_at[p], y_at[p]);
    }
  }
};

// The party's Shamir share of what it holds two components of: x_i + w x_{i+1}. The sum of
// the three parties' products of these is w x y, so w^2 times its own is a party's term; linear
// maps over GF(4), as all weights and polynomials are, keep them (rep3/octet_map.h).
template <class F>
typename F::Element shamir(const typename F::Element& mine, const typename F::Element& theirs) {
  return F::add(mine, F::multiply(F::omega(), theirs));
}
template <class F>
typename F::Element omega_square() {
  return F::add(F::one(), F::omega());
}

// Elements that the caller writes before he reads them, in memory from a lane's pool.
template <class F>
class ElementArray {
 public:
  using Element = typename F::Element;
  ElementArray() = default;
  ElementArray(std::size_t n, SecretPool& pool) : memory_(pool.take(n * sizeof(Element))) {}
  Element* data() { return reinterpret_cast<Element*>(memory_.data()); }
  Element& operator[](std::size_t k) { return data()[k]; }
  const Element& operator[](std::size_t k) const {
    return reinterpret_cast<const Element*>(memory_.data())[k];
  }

 private:
  SecretPool::Piece memory_;
};

}  // namespace tkdc
