// SPDX-License-Identifier: Apache-2.0
// Records of claims: whether a party copies its rows or leaves them where they are, it
// numbers its claims as the others do.
#include "rep3/claims.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace tkdc {
namespace {

constexpr std::size_t kRows = 3;
ClaimShape shape_of(ClaimShape::Product product, std::size_t slots) {
  ClaimShape shape{product, kRows, slots, 1, {}, {}, {}};
  if (product == ClaimShape::Product::kOctets)
    shape.second = {kTimesOmega, kTimesOmegaSquare, times(0x35)};
  return shape;
}

// Every octet of every block, as verification meets it.
std::vector<std::uint8_t> octets_of(ClaimRows& record) {
  std::vector<std::uint8_t> out;
  std::size_t blocks = 0;
  record.for_each_block([&](const ClaimRows::Tile* tiles) {
    ++blocks;
    for (std::size_t t = 0; t < record.tiles_per_block(); ++t)
      for (std::size_t k = 0; k < record.strands(); ++k) {
        const std::uint8_t* row = tiles[t].base + tiles[t].row[k];
        out.insert(out.end(), row, row + ClaimRows::kLanes);
      }
  });
  EXPECT_EQ(blocks, record.blocks());
  return out;
}

struct Shares {  // of `lanes` octets of each row
  std::size_t lanes, stride;
  SecretPool::Piece memory;

  Shares(std::size_t n, std::mt19937_64& rng, SecretPool& pool)
      : lanes(n), stride(kRows * n + 7), memory(pool.take(2 * stride)) {
    for (std::size_t k = 0; k < memory.size(); ++k)
      memory.data()[k] = static_cast<std::uint8_t>(rng());
  }
  const std::uint8_t* row(std::size_t c, std::size_t r) const {
    return memory.data() + c * stride + r * lanes;
  }
};

// The rows as a record of octets keeps them.
SecretPool::Piece kept(const ClaimShape& shape, const Shares& shares, SecretPool& pool) {
  SecretPool::Piece rows = pool.take(kRows * shares.lanes);
  for (std::size_t r = 0; r < kRows; ++r)
    add_mapped(shape.second[r], shares.row(0, r), shares.row(1, r), shares.lanes,
               rows.data() + r * shares.lanes);
  return rows;
}

void append(ClaimRows& record, const Shares& shares) {
  ClaimRows::Rows rows{};
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t r = 0; r < kRows; ++r) rows[c][r] = shares.row(c, r);
  record.append(shares.lanes, rows);
}

class Records : public testing::TestWithParam<std::size_t> {};

TEST_P(Records, RowsThatStayAreNumberedAsCopiedOnes) {
  const ClaimShape shape = shape_of(ClaimShape::Product::kOctets, GetParam());
  std::mt19937_64 rng(GetParam());
  SecretPool pool;
  ClaimRows copied(shape, pool), held(shape, pool);
  for (std::size_t lanes : {64u, 1u, 63u, 130u, 4u, 640u, 65u, 0u, 2000u}) {
    Shares shares(lanes, rng, pool);
    append(copied, shares);
    if (lanes % 3 == 1)
      append(held, shares);
    else
      held.hold(kept(shape, shares, pool), lanes);
  }
  EXPECT_EQ(copied.blocks(), held.blocks());
  const auto octets = octets_of(copied);
  EXPECT_EQ(octets.size(), copied.blocks() * copied.tiles_per_block() * kRows * 64);
  EXPECT_EQ(octets, octets_of(held));
}

INSTANTIATE_TEST_SUITE_P(Slots, Records, testing::Values(1, 2, 4));

TEST(Records, KeepOneOctetForBothComponents) {
  const ClaimShape shape = shape_of(ClaimShape::Product::kOctets, 1);
  std::mt19937_64 rng(6);
  SecretPool pool;
  ClaimRows record(shape, pool);
  const Shares shares(64, rng, pool);
  append(record, shares);
  const auto octets = octets_of(record);
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t lane = 0; lane < 64; ++lane)
      ASSERT_EQ(octets[64 * r + lane],
                shares.row(0, r)[lane] ^ image_of(shape.second[r], shares.row(1, r)[lane]));
}

// All octets of all lanes are there, and beyond them zeros.
TEST(Records, HoldEveryLane) {
  const ClaimShape shape = shape_of(ClaimShape::Product::kBits, 1);
  std::mt19937_64 rng(5);
  SecretPool pool;
  ClaimRows record(shape, pool);
  std::size_t lanes = 0;
  for (std::size_t n : {100u, 7u, 64u, 300u}) {
    Shares shares(n, rng, pool);
    std::memset(shares.memory.data(), 1, shares.memory.size());
    append(record, shares);
    lanes += n;
  }
  std::size_t ones = 0, zeros = 0;
  for (std::uint8_t octet : octets_of(record)) (octet == 1 ? ones : zeros) += 1;
  EXPECT_EQ(ones, lanes * 2 * kRows);
  EXPECT_EQ(ones + zeros, record.blocks() * ClaimRows::kBitSlots * 64 * 2 * kRows);
}

}  // namespace
}  // namespace tkdc
