// SPDX-License-Identifier: Apache-2.0
// The implementations of GF(2^128) against each other and against what a field has to be.
#include <gtest/gtest.h>

#include <random>

#include "ot/field.h"

namespace tkdc::ot {
namespace {

TEST(OtField, ImplementationsAgree) {
  if (field_clmul() == nullptr) GTEST_SKIP() << "this CPU has no PCLMULQDQ";
  std::mt19937_64 generator(1);
  Labels a(7), b(7);
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k] = {generator(), generator()};
    b[k] = {generator(), generator()};
    EXPECT_EQ(field_clmul()->product(a[k], b[k]), field_reference()->product(a[k], b[k]));
  }
  EXPECT_EQ(field_clmul()->dot(a, b), field_reference()->dot(a, b));
}

TEST(OtField, XToThe128ReducesByThePolynomial) {
  for (const Field* one : {field_reference(), field_clmul()})
    if (one != nullptr) {
      EXPECT_EQ(one->product({0, std::uint64_t{1} << 63}, {2, 0}), (Label{0x87, 0}));
      EXPECT_EQ(one->product({5, 7}, {1, 0}), (Label{5, 7}));
    }
  EXPECT_EQ(times_x({0, std::uint64_t{1} << 63}), (Label{0x87, 0}));
}

}  // namespace
}  // namespace tkdc::ot
