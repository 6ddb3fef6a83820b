// SPDX-License-Identifier: Apache-2.0
#include "circuit/linear_map.h"

#include <bit>

namespace tkdc::circuit {

LinearMap::LinearMap(std::size_t inputs, std::span<const std::uint64_t> rows) : inputs_(inputs) {
  assert(inputs <= 64 && rows.size() <= 64);
  // Of each signal, the outputs that add it.
  std::vector<std::uint64_t> users(inputs, 0);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t k = 0; k < inputs; ++k) users[k] |= (rows[r] >> k & 1) << r;
  for (;;) {
    Step best{};
    int most = 0;
    for (std::size_t a = 0; a < users.size(); ++a)
      for (std::size_t b = a + 1; b < users.size(); ++b)
        if (const int common = std::popcount(users[a] & users[b]); common > most) {
          most = common;
          best = {a, b};
        }
    if (most == 0) break;
    const std::uint64_t common = users[best.a] & users[best.b];
    users[best.a] ^= common;
    users[best.b] ^= common;
    users.push_back(common);
    steps_.push_back(best);
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::size_t signal = kNone;
    for (std::size_t k = 0; k < users.size(); ++k)
      if ((users[k] >> r & 1) != 0) signal = k;
    outputs_.push_back(signal);
  }
}

}  // namespace tkdc::circuit
