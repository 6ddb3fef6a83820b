// SPDX-License-Identifier: Apache-2.0
// Who is who for an instance. Roles rotate with its number n, so that all three servers garble and
// evaluate alike often: with e = n mod 3, party e evaluates (E), e + 1 and e + 2 garble (A, B).
//
//   E holds x_e (with B) and x_{e+1} (with A); A holds x_{e+1} and x_{e+2}; B holds x_{e+2} and
//   x_e.
//
// Public.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tkdc::threegarble {

enum class Role : std::uint8_t { kEvaluator = 0, kGarblerA = 1, kGarblerB = 2 };

inline int evaluator_of(std::uint64_t n) { return static_cast<int>(n % 3); }

inline Role role_of(int party, std::uint64_t n) {
  return static_cast<Role>((party + 3 - evaluator_of(n)) % 3);
}

// Which of a party's two components (and pairwise keys) it shares with whom: component 0 with the
// previous party, component 1 with the next one.
inline std::size_t component_with(Role mine, Role other) {
  const int distance = (static_cast<int>(other) + 3 - static_cast<int>(mine)) % 3;
  return distance == 1 ? 1 : 0;
}

}  // namespace tkdc::threegarble
