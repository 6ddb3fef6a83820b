// SPDX-License-Identifier: Apache-2.0
#include "base/secret_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

namespace tkdc {
namespace {

TEST(SecretPool, GivesThePieceAgain) {
  SecretPool pool;
  std::uint8_t* first = nullptr;
  {
    SecretPool::Piece piece = pool.take(1000);
    ASSERT_GE(piece.size(), 1000u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.data()) % 64, 0u);
    first = piece.data();
    std::memset(piece.data(), 0xab, piece.size());
    EXPECT_EQ(pool.idle_bytes(), 0u);
  }
  EXPECT_EQ(pool.idle_bytes(), 1024u);
  SecretPool::Piece again = pool.take(1024), other = pool.take(1024);
  EXPECT_EQ(again.data(), first);
  EXPECT_NE(other.data(), first);
}

TEST(SecretPool, ASmallRequestDoesNotTakeALargePiece) {
  SecretPool pool;
  { SecretPool::Piece large = pool.take(1 << 20); }
  SecretPool::Piece small = pool.take(64);
  EXPECT_EQ(small.size(), 1024u);
  EXPECT_EQ(pool.idle_bytes(), std::size_t{1} << 20);
}

// Of other sizes than are asked for now, the longest idle ones go.
TEST(SecretPool, KeepsNoMoreThanItsBound) {
  SecretPool pool;
  const std::size_t each = SecretPool::kMostIdleBytes / 4;
  {
    std::vector<SecretPool::Piece> many;
    for (int k = 0; k < 6; ++k) many.push_back(pool.take(each));
  }
  EXPECT_EQ(pool.idle_bytes(), SecretPool::kMostIdleBytes);
  std::uint8_t* small = nullptr;
  {
    SecretPool::Piece piece = pool.take(1024);
    small = piece.data();
  }
  EXPECT_EQ(pool.idle_bytes(), 3 * each + 1024);
  EXPECT_EQ(pool.take(1024).data(), small);
  pool.wipe_idle();
  EXPECT_EQ(pool.idle_bytes(), 0u);
}

TEST(SecretPool, APieceMayOutliveIt) {
  std::optional<SecretPool> pool(std::in_place);
  SecretPool::Piece piece = pool->take(100), moved;
  pool.reset();
  std::memset(piece.data(), 1, piece.size());
  moved = std::move(piece);
  EXPECT_EQ(moved.data()[99], 1);
}

}  // namespace
}  // namespace tkdc
