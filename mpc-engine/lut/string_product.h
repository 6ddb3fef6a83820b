// SPDX-License-Identifier: Apache-2.0
// String products: m shared bits times a shared string of n bits, z_i = q_i p, authenticated. One
// table of 256 entries takes seven of them (demux.h) instead of 247 ANDs (Keller and others, ACNS
// 2017, section 4.2, have products of a bit and a field element). The protocol is ours, after the
// leaky ANDs of Katz, Ranellucci, Rosulek, Wang (CRYPTO 2018, sections 4 and 5.1);
// docs/protocols/24-lookup-tables.md has the argument.
//
// Leaky products, of random bits b_i and a random string v with W = v's MAC (label.h):
//
//   both ways   G_i = H(key, g) ⊕ H(key ⊕ Δ, g) ⊕ W      U_i = H(key, u) ⊕ H(key ⊕ Δ, u) ⊕ v
//   MAC_i   = b_own W ⊕ H(key, g) ⊕ H(mac, g) ⊕ b_own G_peer            a share of b_i v Δ
//   value_i = b_own v ⊕ H(key, u) ⊕ H(mac, u) ⊕ b_own U_peer            a share of b_i v
//   check       coins ψ; Σ ψ value is opened under a mask of 128 bits, and Σ ψ MAC has to fit
//
// where key and mac are b_i's. A changed party may have guessed bits b_i of the other one, and is
// caught with each wrong guess. Then coins for a permutation, and buckets of B of them:
//
//   d_j = v_0 ⊕ v_j opened      b = ⊕ b_j      v = v_0      z = ⊕ z_j ⊕ ⊕_{j>0} b_j d_j
//
// and the operands: δ = p ⊕ v and ε_i = q_i ⊕ b_i opened, z_i ⊕ ε_i v ⊕ b_i δ ⊕ ε_i δ is q_i p. Its
// bits come out by opening it under n random bits each. All openings are expected (dealer.h): the
// caller checks before it uses what comes back.
//
// share level: values of both sum to b_i v, MACs to b_i v Δ; tests/unit/lut/products_test.cc.
//
// Calls block; one thread. Secret: operands and products. Error: the session's.
#pragma once

#include "lut/dealer.h"

namespace tkdc::lut {

struct Shape {
  std::size_t bits, length;  // m and n, at most 16 and 128
};

// Leaky ones of random operands, after their check. What belongs to one of them lies together,
// since buckets take them from anywhere: its string, its m bits, its m products.
class Leaky {
 public:
  explicit Leaky(Shape shape = {0, 0}, std::size_t count = 0);
  std::size_t size() const { return stride_ == 0 ? 0 : labels_.size() / stride_; }
  String string(std::size_t k) const { return get(k, 0); }
  const Label& bit(std::size_t k, std::size_t i) const { return of(k)[kString + i]; }
  String product(std::size_t k, std::size_t i) const { return get(k, product_at(i)); }
  void set_string(std::size_t k, const String& to) { set(k, 0, to); }
  void set_bit(std::size_t k, std::size_t i, const Label& to) { of(k)[kString + i] = to; }
  void set_product(std::size_t k, std::size_t i, const String& to) { set(k, product_at(i), to); }
  // That it will be read soon.
  void fetch(std::size_t k) const;

 private:
  static constexpr std::size_t kString = 2;  // labels of one
  std::size_t product_at(std::size_t i) const { return kString + bits_ + kString * i; }
  const Label* of(std::size_t k) const { return &labels_[k * stride_]; }
  Label* of(std::size_t k) { return &labels_[k * stride_]; }
  String get(std::size_t k, std::size_t at) const { return {of(k)[at], of(k)[at + 1]}; }
  void set(std::size_t k, std::size_t at, const String& to) {
    of(k)[at] = to.value;
    of(k)[at + 1] = to.mac;
  }

  std::size_t bits_ = 0, stride_ = 0;
  Labels labels_;
};
Result<Leaky> leaky_products(Dealer& dealer, Shape shape, std::size_t count);

// How many products are made where some are asked for, and in which buckets: the cheapest whose
// bound is small enough. Bound: pair::bucket_bound.
struct Plan {
  std::size_t products, bucket;
  double bound;  // log2
};
// An attack guesses kLeastBucket bits and more, and a wrong guess ends the session: all batches of
// a session together fail with at most 2^kSessionBound = 2^kWantedBound / (1 − 2^-kLeastBucket).
inline constexpr double kWantedBound = -59, kSessionBound = -58.9;
inline constexpr std::size_t kLeastBucket = 4;
Plan plan_products(std::size_t products);

// q: labels [count][m], p: labels [count][n]. The products' labels, [count][m][n].
Result<Labels> multiply(Dealer& dealer, Shape shape, std::span<const Label> q,
                        std::span<const Label> p);

}  // namespace tkdc::lut
