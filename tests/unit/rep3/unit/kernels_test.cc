// SPDX-License-Identifier: Apache-2.0
// Vector kernels against the scalar references, octet by octet, at lengths that
// fill registers and at lengths that do not.
#include "rep3/unit/aes/kernels.h"

#include <gtest/gtest.h>

#include <random>

#include "base/secret.h"
#include "cipher/ghash/gf128.h"
#include "field/gf128.h"

namespace tkdc {
namespace {

class Kernels : public testing::TestWithParam<std::size_t> {
 protected:
  Bytes octets(std::size_t bytes) {
    Bytes out(bytes);
    for (auto& octet : out) octet = static_cast<std::uint8_t>(rng_());
    return out;
  }
  std::mt19937_64 rng_{GetParam()};
};

// The same call on both; `bytes` of output.
template <class Call>
void expect_same(const AesByteKernels& gfni, std::size_t bytes, Call call) {
  Bytes expected(bytes), got(bytes);
  call(aes_byte_kernels_scalar(), expected.data());
  call(gfni, got.data());
  EXPECT_EQ(got, expected);
}

TEST_P(Kernels, GfniLayersAgreeWithScalar) {
  const AesByteKernels* gfni = aes_byte_kernels_gfni();
  if (gfni == nullptr) GTEST_SKIP() << "this CPU lacks GFNI";
  const std::size_t n = 16 * GetParam();
  const Bytes a0 = octets(n), a1 = octets(n), d0 = octets(n / 2), d1 = octets(n / 2);
  const Bytes q0 = octets(n / 4), q1 = octets(n / 4);
  using K = AesByteKernels;
  expect_same(*gfni, n / 2,
              [&](const K& k, std::uint8_t* out) { k.norm(n, a0.data(), a1.data(), out); });
  expect_same(*gfni, n / 4,
              [&](const K& k, std::uint8_t* out) { k.pair(n, d0.data(), d1.data(), out); });
  expect_same(*gfni, n / 2, [&](const K& k, std::uint8_t* out) {
    k.invert(n, d0.data(), d1.data(), q0.data(), q1.data(), out);
  });
  expect_same(*gfni, n, [&](const K& k, std::uint8_t* out) {
    k.product(n, a0.data(), a1.data(), d0.data(), d1.data(), out);
  });
}

TEST_P(Kernels, GfniLinearStepsAgreeWithScalar) {
  const AesByteKernels* gfni = aes_byte_kernels_gfni();
  if (gfni == nullptr) GTEST_SKIP() << "this CPU lacks GFNI";
  const std::size_t blocks = GetParam(), n = 16 * blocks;
  const Bytes in = octets(n), keys[2] = {octets(176), octets(176)};
  using K = AesByteKernels;
  // Runs that end inside a register and at its border, and single blocks.
  constexpr std::size_t kRuns[] = {1, 4, 1, 2, 16, 3, 1, 1};
  std::vector<AesKeyRun> runs;
  for (std::size_t left = blocks, k = 0; left > 0; ++k) {
    const std::size_t run = std::min(left, kRuns[k % 8]);
    runs.push_back({{keys[k % 2].data() + k % 3, keys[1 - k % 2].data()}, run});
    left -= run;
  }
  for (int c : {0, 1}) {
    const AesRoundKey key = {runs.data(), c, 7};
    for (bool last : {false, true})
      expect_same(*gfni, n, [&](const K& k, std::uint8_t* out) {
        k.sub_shift_mix(blocks, in.data(), 0x63, last, key, out);
      });
    expect_same(*gfni, n, [&](const K& k, std::uint8_t* out) {
      std::copy(in.begin(), in.end(), out);
      k.add_round_key(blocks, key, out);
    });
  }
  expect_same(*gfni, n, [&](const K& k, std::uint8_t* out) {
    k.inv_shift_sub(blocks, in.data(), 0x63, out);
  });
  expect_same(*gfni, n, [&](const K& k, std::uint8_t* out) {  // in place
    std::copy(in.begin(), in.end(), out);
    k.inv_shift_sub(blocks, out, 0, out);
    k.sub_shift_mix(blocks, out, 0, false, {runs.data(), 0, 3}, out);
    k.inv_mix(blocks, out);
    k.affine(n, out, 0x63);
  });
}

INSTANTIATE_TEST_SUITE_P(Blocks, Kernels, testing::Values(1, 2, 3, 4, 5, 7, 8, 15, 16, 33, 256));

TEST(Gf128, ClmulAgreesWithScalar) {
  const Gf128MultiplyAdd clmul = gf128_multiply_add_clmul();
  if (clmul == nullptr) GTEST_SKIP() << "this CPU lacks PCLMULQDQ";
  std::mt19937_64 rng(1);
  auto element = [&](int kind) {
    Bytes x(16, static_cast<std::uint8_t>(kind == 1 ? 0xff : 0));
    if (kind == 2) x[rng() % 16] = static_cast<std::uint8_t>(1u << rng() % 8);
    if (kind >= 3)
      for (auto& octet : x) octet = static_cast<std::uint8_t>(rng());
    return x;
  };
  for (int k = 0; k < 2000; ++k) {
    const Bytes a = element(k % 5), b = element(k / 5 % 5);
    Bytes expected = element(3), got = expected;
    gf128_multiply_add_scalar(expected.data(), a.data(), b.data());
    clmul(got.data(), a.data(), b.data());
    ASSERT_EQ(got, expected) << k;
  }
}

}  // namespace
}  // namespace tkdc
