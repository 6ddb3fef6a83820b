// SPDX-License-Identifier: Apache-2.0
// The factors of extension.h's transform, worked out when this is compiled. Kernels of a GPU
// take them too (cuda/thread/octet_field.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "field/gf256.h"
#include "rep3/octet_map.h"

namespace tkdc::gf64 {

inline constexpr int kLevels = 5;
inline constexpr std::size_t kVertices = std::size_t{1} << kLevels, kHalf = kVertices / 2;
inline constexpr std::size_t kExtraPoints = kVertices - 1;
constexpr std::uint8_t extra_point(std::size_t k) {
  return static_cast<std::uint8_t>(kVertices + k);
}

// The factors of the butterflies: those of level 0's groups, of level 1's, ..; first
// on the way back to coefficients, then on the way to the other points.
struct ExtensionFactors {
  static constexpr std::size_t kOneWay = kVertices - 1;
  std::array<std::uint8_t, 2 * kOneWay> octet{};
  std::array<std::uint64_t, 2 * kOneWay> matrix{};  // multiplication, for GF2P8AFFINEQB

  static constexpr std::size_t index(bool back, int level, std::size_t group) {
    return (back ? 0 : kOneWay) + kVertices - (kVertices >> level) + group;
  }
  constexpr ExtensionFactors() {
    for (bool back : {true, false})
      for (int level = 0; level < kLevels; ++level)
        for (std::size_t group = 0; group < kVertices >> (level + 1); ++group) {
          const std::size_t first = (back ? 0 : kVertices) + (group << (level + 1));
          const std::uint8_t factor = vanishing(level, static_cast<std::uint8_t>(first));
          octet[index(back, level, group)] = factor;
          matrix[index(back, level, group)] = affine_matrix(times(factor));
        }
  }

 private:
  // The polynomial that is 0 at the octets below 2^level and 1 at 2^level.
  static constexpr std::uint8_t vanishing(int level, std::uint8_t at) {
    std::uint8_t value = 1, unit = 1;
    for (unsigned root = 0; root < 1u << level; ++root) {
      value = gf256_multiply(value, static_cast<std::uint8_t>(at ^ root));
      unit = gf256_multiply(unit, static_cast<std::uint8_t>((1u << level) ^ root));
    }
    return gf256_multiply(value, gf256_inverse(unit));
  }
};
inline constexpr ExtensionFactors kExtension;

}  // namespace tkdc::gf64
