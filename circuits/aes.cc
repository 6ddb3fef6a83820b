// SPDX-License-Identifier: Apache-2.0
#include "circuits/aes.h"

namespace tkdc::circuits::aes_detail {
namespace {

// The circulant matrix whose first row is `row`, on columns of octets.
circuit::LinearMap circulant(const std::array<std::uint8_t, 4>& row) {
  std::vector<std::uint64_t> rows(32, 0);
  for (std::size_t input = 0; input < 32; ++input)
    for (std::size_t to = 0; to < 4; ++to) {
      const std::size_t from = input / 8;
      const auto unit = static_cast<std::uint8_t>(1u << input % 8);
      const std::uint8_t image = gf256_multiply(row[(from + 4 - to) % 4], unit);
      for (std::size_t k = 0; k < 8; ++k)
        rows[8 * to + k] |= std::uint64_t{image >> k & 1u} << input;
    }
  return {32, rows};
}

}  // namespace

const circuit::LinearMap& mix_column() {
  static const circuit::LinearMap map = circulant({2, 3, 1, 1});
  return map;
}

const circuit::LinearMap& unmix_column() {
  static const circuit::LinearMap map = circulant({14, 11, 13, 9});
  return map;
}

}  // namespace tkdc::circuits::aes_detail
