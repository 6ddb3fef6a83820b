// SPDX-License-Identifier: Apache-2.0
// A block of memory, of 32 rows of `stride` octets, turned: for each column and each bit of an
// octet, that bit of all rows in one word, the first row's lowest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keyscan {

inline constexpr std::size_t kPlaneRows = 32;

class Planes {
 public:
  explicit Planes(std::size_t stride) : stride_(stride), words_(8 * stride), eighths_(8 * stride) {}

  void turn(const std::uint8_t* block);
  // words()[bit * stride + column]
  const std::vector<std::uint32_t>& words() const { return words_; }

 private:
  void turn_narrow(const std::uint8_t* eight_rows);
  void turn_wide(const std::uint8_t* eight_rows);

  const std::size_t stride_;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint8_t> eighths_;  // of eight rows: words() as octets
};

}  // namespace keyscan
