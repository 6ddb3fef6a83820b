// SPDX-License-Identifier: Apache-2.0
// The sum of docs/protocols/12-verification.md (Error), from what the code does.
#include <gtest/gtest.h>

#include "rep3/unit/aes/sbox_claims.h"
#include "rep3/verify/octet_check.h"

namespace tkdc {
namespace {

using Check = InnerProductCheck<Gf64Field>;

// 2 for each variable of each fold, the last one's too: in units of 2^-64.
std::uint64_t error_of_folds(std::size_t products) {
  SecretPool pool;
  Check check;
  check.allocate(products, pool);
  std::fill_n(check.x.data(), products, 0);
  std::fill_n(check.y.data(), products, 0);
  std::uint64_t error = 0;
  for (bool last = false; !last;) {
    check.begin_fold();
    last = check.last();
    error += 2 * check.challenge_bytes() / Gf64Field::kBytes;
    if (last) break;
    Bytes values(check.message_bytes());
    check.points_sent(values.data());
    check.take_points(values.data(), values.data());
    check.fold(Bytes(check.challenge_bytes()).data());
  }
  return error;
}

// A wrong coefficient, a wrong polynomial, shapes beyond the first; x' that masks nothing, X or Y
// wrong and not seen, and r'.
std::uint64_t error_of_batch(std::size_t products, std::uint64_t shapes) {
  constexpr std::uint64_t kCoefficients = 4, kPolynomial = 2 * (gf64::kVertices - 1);
  return kCoefficients + kPolynomial + (shapes - 1) + error_of_folds(products) + 5 + 1 + 1;
}

TEST(Error, OfACohortOf2To22BlocksIsBelow2ToMinus40) {
  const std::size_t blocks = std::size_t{1} << 22, rounds = 14, per_round = kKeptOctetsPerSbox16;
  // A round of all of it as one batch: 16 S-boxes are a product.
  const std::size_t products = blocks * 16 / (gf64::kLanes * gf64::kVertices) * 2 * gf64::kLanes;
  EXPECT_EQ(products, blocks);
  EXPECT_EQ(error_of_batch(products, 1), 119u);
  EXPECT_LE(error_of_batch(products, 17), 163u);
  // In batches as small as a lane makes them.
  const std::size_t batches = blocks * rounds * per_round / ClaimLog::kMaxBytes;
  EXPECT_EQ(batches, 1568u);
  const std::size_t of_small = ClaimLog::kMaxBytes / per_round;
  EXPECT_LE(error_of_batch(of_small, 3), 163u);
  EXPECT_LT(batches * 163, std::uint64_t{1} << 18);  // 2^-46
}

}  // namespace
}  // namespace tkdc
