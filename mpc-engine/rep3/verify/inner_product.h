// SPDX-License-Identifier: Apache-2.0
// One party's side of checking that a shared value is the inner product of two
// shared vectors, without the rounds (verifier.cc has them): fold by 4 and 8, later by
// 32, until few products are left, then once more with a random product beside them,
// open what is left of the vectors, and a random multiple of what the claim lacks.
//
// Source: Boneh, Boyle, Corrigan-Gibbs, Gilboa, Ishai 2019 (ePrint 2019/188),
// section 4.2, and Goyal, Song 2020 (ePrint 2020/134); here the polynomials are
// multilinear in n variables with values at {0, 1, infinity}^n.
//   1. With the vectors' 2^n parts at the vertices of {0,1}^n, the product of the two
//      multilinear polynomials, summed over k, is h, quadratic in each variable. The
//      claim is the sum of h over the vertices, so all values of h but one are sent,
//      masked, and that one follows.
//   2. At a random point both vectors become a 2^n-th as long; the claim is h there.
//   3. Below 32 products, the last vertex gets a random product x' y' that the claim
//      does not count. At the random point X and Y are then masked by it. One layer makes
//      replicated shares of X, Y and r' times the claim, where nobody knows r'; then X and Y
//      are opened.
//   4. r' times the claim, less r' X Y, is opened and must be 0. Else it is uniform: what the
//      claim lacks may depend on secrets, where an error stands in a factor, and is not shown.
// Each fold errs with probability 2 n / |F|.
//
// Vectors and claim are held as Shamir shares (fields.h), one element each; what is random or
// comes from a layer is a replicated share first. No Shamir share ever leaves a party as it is:
// a zero-share is on it, so that two honest parties who were made to check different jobs show
// nothing (docs/protocols/12, "Two honest servers that disagree").
#pragma once

#include <initializer_list>
#include <memory>

#include "rep3/verify/fields.h"

namespace tkdc {

// The vectors of a check where they do not stand in its x and y: on a device (octet_device.h).
template <class F>
class FactorsElsewhere {
 public:
  using Element = typename F::Element;
  virtual ~FactorsElsewhere() = default;
  // As F::points() and F::fold(); past their end the vectors are 0. False: only bring() is left.
  virtual bool points(int n, std::size_t stride, Element* out) = 0;
  virtual bool fold(int n, std::size_t stride, const Element* at) = 0;
  // What they now are, with room for `more` elements after them.
  virtual void bring(ElementArray<F>& x, ElementArray<F>& y, std::size_t more) = 0;
};

template <class F>
class InnerProductCheck {
 public:
  using Element = typename F::Element;

  InnerProductCheck() = default;
  InnerProductCheck(const InnerProductCheck&) = delete;
  ~InnerProductCheck() {
    sodium_memzero(&claim, sizeof claim);
    sodium_memzero(mask_, sizeof mask_);
    sodium_memzero(masked_, sizeof masked_);
  }

  // The vectors' shares, `n` elements to be filled by the caller.
  void allocate(std::size_t n, SecretPool& pool) {
    size_ = n;
    x = ElementArray<F>(n + kLargestFold, pool);
    y = ElementArray<F>(n + kLargestFold, pool);
  }
  ElementArray<F> x, y;
  Element claim = {};
  // Instead of allocate(): vectors of n elements that stand elsewhere until few are left.
  void keep_elsewhere(std::size_t n, std::unique_ptr<FactorsElsewhere<F>> where) {
    size_ = n;
    elsewhere_ = std::move(where);
  }
  FactorsElsewhere<F>* elsewhere() const { return elsewhere_.get(); }
  // Vectors that are longer are folded by 4, elsewhere if they stand there.
  static constexpr std::size_t kVeryMany = 8192;

  // ---- one fold: begin_fold(), in the last one take_random(), a message of
  // message_bytes(), a challenge of challenge_bytes().
  void begin_fold() {
    filled_ = size_;
    if (elsewhere_ != nullptr && size_ <= kVeryMany) bring();
    last_ = size_ < kLargestFold;
    variables_ = size_ > kVeryMany ? kVariablesOfVeryMany
                 : size_ > kMany   ? kVariablesOfMany
                                   : kVariables;
    if (last_)
      for (variables_ = 1; vertices() <= size_;) ++variables_;
    stride_ = (size_ + vertices() - 1) / vertices();
    size_ = stride_ * vertices();
    pad();
  }
  bool last() const { return last_; }

  static constexpr std::size_t kRandomBytes = 2 * F::kBytes;  // x', y'
  void take_random(const SharedBytes& random) {
    x[size_ - 1] = share_at(random, 0);
    y[size_ - 1] = share_at(random, F::kBytes);
  }

  std::size_t message_bytes() const { return (points(variables_) - 1) * F::kBytes; }
  void points_sent(std::uint8_t* out) {
    h_.resize(points(variables_));
    if (elsewhere_ != nullptr && !elsewhere_->points(variables_, stride_, h_.data())) bring();
    if (elsewhere_ == nullptr) F::points(variables_, stride_, x.data(), y.data(), h_.data());
    for (std::size_t p = 1; p < h_.size(); ++p)
      put(out + (p - 1) * F::kBytes, F::multiply(omega_square<F>(), h_[p]));
  }
  void take_points(const std::uint8_t* mine, const std::uint8_t* theirs) {
    const std::size_t claimed = last_ ? vertices() - 1 : vertices();
    for (std::size_t p = 1; p < h_.size(); ++p) {
      const std::size_t at = (p - 1) * F::kBytes;
      h_[p] = shamir<F>(get(mine + at), get(theirs + at));
    }
    h_[0] = claim;
    for (std::size_t vertex = 1; vertex < claimed; ++vertex)
      h_[0] = F::add(h_[0], h_[vertex_point(vertex)]);
  }

  std::size_t challenge_bytes() const { return static_cast<std::size_t>(variables_) * F::kBytes; }
  void fold(const std::uint8_t* challenge) {
    std::vector<Element> vertex = {F::one()}, point = vertex;
    for (int v = 0; v < variables_; ++v) {
      const Element t = get(challenge + static_cast<std::size_t>(v) * F::kBytes);
      spread_weights(vertex, {linear(t, 0), linear(t, 1)});
      spread_weights(point, {quadratic(t, 0), quadratic(t, 1), quadratic(t, 2)});
    }
    if (elsewhere_ != nullptr && !elsewhere_->fold(variables_, stride_, vertex.data())) bring();
    if (elsewhere_ == nullptr) F::fold(variables_, stride_, x.data(), y.data(), vertex.data());
    size_ = stride_;
    claim = F::dot(point.size(), point.data(), h_.data());
  }

  // ---- after the last fold: a message of kLastBytes, then factors() are opened; then masked()
  // is, and must be zero.
  static constexpr std::size_t kFactorsBytes = 2 * F::kBytes, kMaskBytes = F::kBytes;
  static constexpr std::size_t kLastBytes = kFactorsBytes + kMaskBytes;
  // This party's terms of X, Y and the claim's product with r', a random sharing of kMaskBytes.
  void last_sent(const SharedBytes& mask, std::uint8_t* out) {
    for (int c = 0; c < 2; ++c) mask_[c] = get(mask.component[c].data());
    put(out, F::multiply(F::omega(), x[0]));
    put(out + F::kBytes, F::multiply(F::omega(), y[0]));
    put(out + kFactorsBytes, F::multiply(omega_square<F>(), F::multiply(share_at(mask, 0), claim)));
  }
  void take_last(const std::uint8_t* mine, const std::uint8_t* theirs) {
    const std::uint8_t* of[2] = {mine, theirs};
    for (int c = 0; c < 2; ++c) {
      factors_.component[c].assign(of[c], of[c] + kFactorsBytes);
      masked_[c] = get(of[c] + kFactorsBytes);
    }
  }
  // X and Y, replicated.
  SharedBytes factors() { return std::move(factors_); }
  // r' (claim - X Y), replicated. `opened`: X and Y.
  SharedBytes masked(const std::uint8_t* opened) const {
    const Element product = F::multiply(get(opened), get(opened + F::kBytes));
    SharedBytes out(kMaskBytes);
    for (int c = 0; c < 2; ++c)
      put(out.component[c].data(), F::add(masked_[c], F::multiply(mask_[c], product)));
    return out;
  }
  static bool is_zero(const std::uint8_t* opened) { return get(opened) == Element(); }

  static Element get(const std::uint8_t* in) {
    Element e;
    std::memcpy(&e, in, F::kBytes);
    return e;
  }
  static void put(std::uint8_t* out, const Element& e) { std::memcpy(out, &e, F::kBytes); }
  // Of the element that stands at this offset.
  static Element share_at(const SharedBytes& from, std::size_t at) {
    return shamir<F>(get(from.component[0].data() + at), get(from.component[1].data() + at));
  }

  // Lagrange coefficients: of a linear polynomial at 0, 1; of a quadratic at 0, 1, infinity.
  static Element linear(const Element& t, std::size_t vertex) {
    return vertex == 0 ? F::add(F::one(), t) : t;
  }
  static Element quadratic(const Element& t, std::size_t point) {
    return point < 2 ? linear(t, point) : F::add(t, F::multiply(t, t));
  }

 private:
  static constexpr int kVariables = 5;
  static constexpr std::size_t kLargestFold = std::size_t{1} << kVariables;
  // Many products are folded by 8 or 4 at first: 27 points of 8 parts instead of 243 of 32
  // cost a product less than half, 9 points of 4 a third, but more folds are more rounds.
  static constexpr int kVariablesOfMany = 3, kVariablesOfVeryMany = 2;
  static constexpr std::size_t kMany = 1024;

  // One variable more, whose values' weights these are: slower than those before.
  static void spread_weights(std::vector<Element>& all, std::initializer_list<Element> weights) {
    std::vector<Element> out;
    for (const Element& weight : weights) F::append_scaled(weight, all, out);
    all = std::move(out);
  }
  std::size_t vertices() const { return std::size_t{1} << variables_; }
  // Zeros for what the vectors lack of whole parts.
  void pad() {
    if (elsewhere_ != nullptr) return;
    for (std::size_t k = filled_; k < size_; ++k) x[k] = y[k] = Element();
  }
  void bring() {
    elsewhere_->bring(x, y, kLargestFold);
    elsewhere_.reset();
    pad();
  }

  Element mask_[2] = {}, masked_[2] = {};  // replicated
  SharedBytes factors_;
  std::size_t size_ = 0, stride_ = 0, filled_ = 0;  // filled_: before zeros came to it
  int variables_ = 0;
  bool last_ = false;
  std::unique_ptr<FactorsElsewhere<F>> elsewhere_;
  std::vector<Element, WipingAllocator<Element>> h_;
};

}  // namespace tkdc
