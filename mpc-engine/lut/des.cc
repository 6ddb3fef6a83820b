// SPDX-License-Identifier: Apache-2.0
#include "lut/des.h"

#include <algorithm>
#include <string>

#include "lut/sizes.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kHalf = 32, kBlock = 64, kDesKey = 64, kSubkey = 48;
constexpr std::size_t kRounds = 16;

// Permutations and selections as the standard prints them: which bit comes next, from 1.
constexpr std::uint8_t kInitial[kBlock] = {
    58, 50, 42, 34, 26, 18, 10, 2,  60, 52, 44, 36, 28, 20, 12, 4,  62, 54, 46, 38, 30, 22,
    14, 6,  64, 56, 48, 40, 32, 24, 16, 8,  57, 49, 41, 33, 25, 17, 9,  1,  59, 51, 43, 35,
    27, 19, 11, 3,  61, 53, 45, 37, 29, 21, 13, 5,  63, 55, 47, 39, 31, 23, 15, 7};
constexpr std::uint8_t kExpansion[kSubkey] = {
    32, 1,  2,  3,  4,  5,  4,  5,  6,  7,  8,  9,  8,  9,  10, 11, 12, 13, 12, 13, 14, 15, 16, 17,
    16, 17, 18, 19, 20, 21, 20, 21, 22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1};
constexpr std::uint8_t kAfterBoxes[kHalf] = {16, 7, 20, 21, 29, 12, 28, 17, 1,  15, 23,
                                             26, 5, 18, 31, 10, 2,  8,  24, 14, 32, 27,
                                             3,  9, 19, 13, 30, 6,  22, 11, 4,  25};
constexpr std::uint8_t kOfKey[56] = {57, 49, 41, 33, 25, 17, 9,  1,  58, 50, 42, 34, 26, 18,
                                     10, 2,  59, 51, 43, 35, 27, 19, 11, 3,  60, 52, 44, 36,
                                     63, 55, 47, 39, 31, 23, 15, 7,  62, 54, 46, 38, 30, 22,
                                     14, 6,  61, 53, 45, 37, 29, 21, 13, 5,  28, 20, 12, 4};
constexpr std::uint8_t kOfRound[kSubkey] = {
    14, 17, 11, 24, 1,  5,  3,  28, 15, 6,  21, 10, 23, 19, 12, 4,  26, 8,  16, 7,  27, 20, 13, 2,
    41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32};

// The S-boxes as the standard prints them: four rows of sixteen.
constexpr std::uint8_t kPrinted[kDesBoxes][64] = {
    {14, 4,  13, 1, 2,  15, 11, 8, 3, 10, 6, 12, 5,  9,  0,  7,  0,  15, 7,  4,  14, 2,
     13, 1,  10, 6, 12, 11, 9,  5, 3, 8,  4, 1,  14, 8,  13, 6,  2,  11, 15, 12, 9,  7,
     3,  10, 5,  0, 15, 12, 8,  2, 4, 9,  1, 7,  5,  11, 3,  14, 10, 0,  6,  13},
    {15, 1,  8,  14, 6,  11, 3,  4, 9,  7,  2, 13, 12, 0,  5,  10, 3,  13, 4,  7, 15, 2,
     8,  14, 12, 0,  1,  10, 6,  9, 11, 5,  0, 14, 7,  11, 10, 4,  13, 1,  5,  8, 12, 6,
     9,  3,  2,  15, 13, 8,  10, 1, 3,  15, 4, 2,  11, 6,  7,  12, 0,  5,  14, 9},
    {10, 0,  9,  14, 6, 3,  15, 5,  1,  13, 12, 7, 11, 4,  2,  8,  13, 7, 0,  9, 3, 4,
     6,  10, 2,  8,  5, 14, 12, 11, 15, 1,  13, 6, 4,  9,  8,  15, 3,  0, 11, 1, 2, 12,
     5,  10, 14, 7,  1, 10, 13, 0,  6,  9,  8,  7, 4,  15, 14, 3,  11, 5, 2,  12},
    {7, 13, 14, 3, 0, 6,  9, 10, 1,  2, 8,  5, 11, 12, 4,  15, 13, 8,  11, 5, 6, 15,
     0, 3,  4,  7, 2, 12, 1, 10, 14, 9, 10, 6, 9,  0,  12, 11, 7,  13, 15, 1, 3, 14,
     5, 2,  8,  4, 3, 15, 0, 6,  10, 1, 13, 8, 9,  4,  5,  11, 12, 7,  2,  14},
    {2,  12, 4, 1,  7,  10, 11, 6, 8, 5,  3, 15, 13, 0,  14, 9,  14, 11, 2,  12, 4,  7,
     13, 1,  5, 0,  15, 10, 3,  9, 8, 6,  4, 2,  1,  11, 10, 13, 7,  8,  15, 9,  12, 5,
     6,  3,  0, 14, 11, 8,  12, 7, 1, 14, 2, 13, 6,  15, 0,  9,  10, 4,  5,  3},
    {12, 1,  10, 15, 9,  2,  6, 8,  0, 13, 3,  4,  14, 7,  5, 11, 10, 15, 4, 2, 7, 12,
     9,  5,  6,  1,  13, 14, 0, 11, 3, 8,  9,  14, 15, 5,  2, 8,  12, 3,  7, 0, 4, 10,
     1,  13, 11, 6,  4,  3,  2, 12, 9, 5,  15, 10, 11, 14, 1, 7,  6,  0,  8, 13},
    {4, 11, 2,  14, 15, 0,  8,  13, 3, 12, 9,  7, 5,  10, 6,  1,  13, 0,  11, 7,  4, 9,
     1, 10, 14, 3,  5,  12, 2,  15, 8, 6,  1,  4, 11, 13, 12, 3,  7,  14, 10, 15, 6, 8,
     0, 5,  9,  2,  6,  11, 13, 8,  1, 4,  10, 7, 9,  5,  0,  15, 14, 2,  3,  12},
    {13, 2, 8,  4, 6, 15, 11, 1,  10, 9,  3, 14, 5,  0,  12, 7,  1,  15, 13, 8, 10, 3,
     7,  4, 12, 5, 6, 11, 0,  14, 9,  2,  7, 11, 4,  1,  9,  12, 14, 2,  0,  6, 10, 13,
     15, 3, 5,  8, 2, 1,  14, 7,  4,  10, 8, 13, 15, 12, 9,  0,  3,  5,  6,  11}};

constexpr std::array<DesBox, kDesBoxes> make_boxes() {
  std::array<DesBox, kDesBoxes> out{};
  for (std::size_t box = 0; box < kDesBoxes; ++box)
    for (unsigned x = 0; x < 64; ++x) {
      const auto bit = [x](unsigned k) { return x >> k & 1; };  // bit k + 1 of the standard's
      const unsigned row = bit(0) << 1 | bit(5),
                     column = bit(1) << 3 | bit(2) << 2 | bit(3) << 1 | bit(4),
                     printed = kPrinted[box][16 * row + column];
      out[box][x] = static_cast<std::uint8_t>((printed >> 3 & 1) | (printed >> 1 & 2) |
                                              (printed << 1 & 4) | (printed << 3 & 8));
    }
  return out;
}

// Where each bit of a round's key stands in its DES key; rounds from 0.
constexpr std::array<std::array<std::uint8_t, kSubkey>, kRounds> make_schedule() {
  constexpr std::size_t kPart = 28;
  std::array<std::array<std::uint8_t, kSubkey>, kRounds> out{};
  std::size_t turned = 0;
  for (std::size_t round = 0; round < kRounds; ++round) {
    turned += round == 0 || round == 1 || round == 8 || round == 15 ? 1 : 2;
    for (std::size_t k = 0; k < kSubkey; ++k) {
      const std::size_t of = kOfRound[k] - 1u, part = of / kPart;
      out[round][k] = static_cast<std::uint8_t>(kOfKey[part * kPart + (of + turned) % kPart] - 1);
    }
  }
  return out;
}

// Round i of 48: encryption, decryption, encryption.
Labels round_key(std::span<const Label> key, std::size_t round) {
  static constexpr auto kSchedule = make_schedule();
  const std::size_t which = round / kRounds, of = round % kRounds;
  Labels out(kSubkey);
  for (std::size_t k = 0; k < kSubkey; ++k)
    out[k] = key[which * kDesKey + kSchedule[which == 1 ? kRounds - 1 - of : of][k]];
  return out;
}

// One layer of S-boxes: the halves of all blocks under one round's key or two.
class Layers {
 public:
  Layers(const SubstituteSix& substitute, std::span<const Label> key, std::span<Label> blocks)
      : substitute_(substitute), key_(key), blocks_(blocks.size() / kBlock), left_(blocks_ * kHalf),
        right_(blocks_ * kHalf) {}

  Result<void> run(std::span<Label> blocks) {
    for (std::size_t block = 0; block < blocks_; ++block)
      for (std::size_t k = 0; k < kBlock; ++k)
        half(k < kHalf ? left_ : right_, block)[k % kHalf] =
            blocks[block * kBlock + kInitial[k] - 1u];
    for (std::size_t round = 0; round < 3 * kRounds;) {
      const bool seam = round % kRounds == kRounds - 1 && round + 1 < 3 * kRounds;
      if (auto done = layer(round, seam ? 2 : 1); !done) return done;
      round += seam ? 2 : 1;
    }
    // The halves change places once more at the end.
    for (std::size_t block = 0; block < blocks_; ++block)
      for (std::size_t k = 0; k < kBlock; ++k)
        blocks[block * kBlock + kInitial[k] - 1u] =
            half(k < kHalf ? right_ : left_, block)[k % kHalf];
    return {};
  }

 private:
  static Label* half(Labels& of, std::size_t block) { return &of[block * kHalf]; }

  Result<void> layer(std::size_t round, std::size_t keys) {
    in_.resize(keys * blocks_ * kSubkey);
    out_.resize(keys * blocks_ * kHalf);
    for (std::size_t which = 0; which < keys; ++which) {
      const Labels key = round_key(key_, round + which);
      for (std::size_t block = 0; block < blocks_; ++block)
        for (std::size_t k = 0; k < kSubkey; ++k)
          in_[(which * blocks_ + block) * kSubkey + k] =
              half(right_, block)[kExpansion[k] - 1u] ^ key[k];
    }
    if (auto done = substitute_(in_, out_); !done) return done;
    for (std::size_t which = 0; which < keys; ++which)
      for (std::size_t block = 0; block < blocks_; ++block)
        for (std::size_t k = 0; k < kHalf; ++k) {
          Label& to = half(left_, block)[k];
          to = to ^ out_[(which * blocks_ + block) * kHalf + kAfterBoxes[k] - 1u];
        }
    std::swap(left_, right_);
    return {};
  }

  const SubstituteSix& substitute_;
  const std::span<const Label> key_;
  const std::size_t blocks_;
  Labels left_, right_, in_, out_;
};

}  // namespace

const std::array<DesBox, kDesBoxes>& des_boxes() {
  static constexpr auto kBoxes = make_boxes();
  return kBoxes;
}

void standard_order(std::span<Label> bits) {
  for (std::size_t k = 0; k < bits.size(); k += kOctetBits)
    std::reverse(&bits[k], &bits[k] + kOctetBits);
}

Labels octets_of_des(std::span<const Label> bits) {
  Labels out(bits.size() / kOctetBits), of(kOctetBits);
  for (std::size_t k = 0; k < out.size(); ++k) {
    std::reverse_copy(&bits[k * kOctetBits], &bits[k * kOctetBits] + kOctetBits, of.begin());
    out[k] = octet_of(of.data());
  }
  return out;
}

Result<void> encrypt_des(const SubstituteSix& substitute, std::span<const Label> key,
                         std::span<Label> blocks) {
  if (key.size() != 3 * kDesKey || blocks.size() % kBlock != 0)
    return fail("lut: " + std::to_string(key.size()) + " bits of a key and " +
                std::to_string(blocks.size()) +
                " of blocks: triple DES has 192 and a multiple of 64");
  Layers layers(substitute, key, blocks);
  auto done = layers.run(blocks);
  garble::wipe_stack();
  return done;
}

}  // namespace tkdc::lut
