// SPDX-License-Identifier: Apache-2.0
// Where a run's decisions come from: xoshiro256** (Blackman, Vigna 2018), begun from a seed by
// splitmix64. The same numbers with every compiler, which the standard library's distributions do
// not promise.
#pragma once

#include <cstdint>

namespace tkdc::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }
  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  // 0 to most - 1; 0 where there is no choice.
  std::uint64_t below(std::uint64_t most) { return most == 0 ? 0 : next() % most; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least + 1)));
  }
  bool percent(unsigned of_hundred) { return below(100) < of_hundred; }
  void fill(void* out, std::size_t bytes) {
    auto* at = static_cast<std::uint8_t*>(out);
    std::uint64_t word = 0;
    for (std::size_t k = 0; k < bytes; ++k, word >>= 8) {
      if (k % 8 == 0) word = next();
      at[k] = static_cast<std::uint8_t>(word);
    }
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
  std::uint64_t state_[4];
};

}  // namespace tkdc::sim
