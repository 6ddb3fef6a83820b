// SPDX-License-Identifier: Apache-2.0
// Linear equations over GF(2), one after the other, in echelon form.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/secret.h"

namespace tkdc::test {

class Gf2System {
 public:
  explicit Gf2System(std::size_t unknowns) : unknowns_(unknowns), pivot_row_(unknowns) {}

  // One equation: which unknowns it adds up, and to what.
  struct Equation {
    explicit Equation(std::size_t unknowns) : word(unknowns / 64 + 1) {}
    bool operator[](std::size_t k) const { return word[k / 64] >> k % 64 & 1; }
    bool empty() const {
      return std::ranges::all_of(word, [](std::uint64_t of) { return of == 0; });
    }
    void flip(std::size_t k) { word[k / 64] ^= std::uint64_t{1} << k % 64; }
    void add(const Equation& other) {
      for (std::size_t k = 0; k < word.size(); ++k) word[k] ^= other.word[k];
      sum = sum != other.sum;
    }
    std::vector<std::uint64_t> word;
    bool sum = false;
  };

  void add(Equation equation) {
    for (std::size_t k = 0; k < unknowns_; ++k) {
      if (!equation[k]) continue;
      if (!pivot_row_[k]) {
        pivot_row_[k] = std::move(equation);
        ++rank_;
        return;
      }
      equation.add(*pivot_row_[k]);
    }
    if (equation.sum) ++contradictions_;
  }

  std::size_t unknowns() const { return unknowns_; }
  std::size_t rank() const { return rank_; }
  // Equations that cannot hold beside those before them.
  std::size_t contradictions() const { return contradictions_; }

  // Unknown k is bit k % 8 of octet k / 8. Nothing while they are not determined.
  std::optional<Bytes> solution() const {
    if (rank_ < unknowns_) return std::nullopt;
    Bytes out((unknowns_ + 7) / 8);
    for (std::size_t k = unknowns_; k-- > 0;) {
      bool value = pivot_row_[k]->sum;
      for (std::size_t later = k + 1; later < unknowns_; ++later)
        value ^= (*pivot_row_[k])[later] && (out[later / 8] >> later % 8 & 1) != 0;
      if (value) out[k / 8] |= static_cast<std::uint8_t>(1u << k % 8);
    }
    return out;
  }

 private:
  const std::size_t unknowns_;
  std::vector<std::optional<Equation>> pivot_row_;  // whose first unknown this is
  std::size_t rank_ = 0, contradictions_ = 0;
};

}  // namespace tkdc::test
