// SPDX-License-Identifier: Apache-2.0
#include "planes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace keyscan {
namespace {

using Eight = std::array<std::uint64_t, 8>;

// The two halves of each pair of octets, of bits or of octets that are `shift` bits apart.
void exchange(std::uint64_t& low, std::uint64_t& high, int shift, std::uint64_t mask) {
  const std::uint64_t differing = (low >> shift ^ high) & mask;
  high ^= differing;
  low ^= differing << shift;
}

// An 8 x 8 matrix of bits in each column of octets: row i, bit j becomes row j, bit i.
void turn_bits(Eight& rows) {
  for (std::size_t i : {0u, 1u, 2u, 3u}) exchange(rows[i], rows[i + 4], 4, 0x0f0f0f0f0f0f0f0f);
  for (std::size_t i : {0u, 1u, 4u, 5u}) exchange(rows[i], rows[i + 2], 2, 0x3333333333333333);
  for (std::size_t i : {0u, 2u, 4u, 6u}) exchange(rows[i], rows[i + 1], 1, 0x5555555555555555);
}

// The same matrix whose rows are the octets of one word.
std::uint64_t turned(std::uint64_t x) {
  std::uint64_t differing = (x ^ x >> 28) & 0x00000000f0f0f0f0;
  x ^= differing ^ differing << 28;
  differing = (x ^ x >> 14) & 0x0000cccc0000cccc;
  x ^= differing ^ differing << 14;
  differing = (x ^ x >> 7) & 0x00aa00aa00aa00aa;
  return x ^ differing ^ differing << 7;
}

}  // namespace

void Planes::turn_wide(const std::uint8_t* eight_rows) {
  for (std::size_t column = 0; column < stride_; column += 8) {
    Eight rows;
    for (std::size_t i = 0; i < 8; i++)
      std::memcpy(&rows[i], eight_rows + i * stride_ + column, sizeof rows[i]);
    turn_bits(rows);
    for (std::size_t bit = 0; bit < 8; bit++)
      std::memcpy(&eighths_[bit * stride_ + column], &rows[bit], sizeof rows[bit]);
  }
}

void Planes::turn_narrow(const std::uint8_t* eight_rows) {
  for (std::size_t column = 0; column < stride_; column++) {
    std::uint64_t octets = 0;
    for (std::size_t i = 0; i < 8; i++)
      octets |= std::uint64_t{eight_rows[i * stride_ + column]} << 8 * i;
    octets = turned(octets);
    for (std::size_t bit = 0; bit < 8; bit++)
      eighths_[bit * stride_ + column] = static_cast<std::uint8_t>(octets >> 8 * bit);
  }
}

void Planes::turn(const std::uint8_t* block) {
  std::ranges::fill(words_, 0);
  for (std::size_t row = 0; row < kPlaneRows; row += 8) {
    const std::uint8_t* const eight_rows = block + row * stride_;
    if (stride_ % 8 == 0) {
      turn_wide(eight_rows);
    } else {
      turn_narrow(eight_rows);
    }
    for (std::size_t i = 0; i < words_.size(); i++)
      words_[i] |= static_cast<std::uint32_t>(eighths_[i]) << row;
  }
}

}  // namespace keyscan
