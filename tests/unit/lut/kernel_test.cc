// SPDX-License-Identifier: Apache-2.0
// Kernels against each other and against tables that are known.
#include <gtest/gtest.h>

#include <random>

#include "lut/kernel.h"

namespace tkdc::lut {
namespace {

struct Drawn {
  Labels vector = Labels(kPlaces);
  std::array<std::uint8_t, kPlaces / 8> bits{};
  Table table;
  explicit Drawn(unsigned seed) {
    std::mt19937_64 generator(seed);
    for (std::size_t j = 0; j < kPlaces; ++j) {
      vector[j] = {(generator() & ~0xfeull), generator()};
      bits[j / 8] |= static_cast<std::uint8_t>((vector[j].low & 1) << (j % 8));
      table[j] = static_cast<std::uint8_t>(generator());
    }
  }
};

TEST(LutKernel, BothExpandAlike) {
  if (kernel_gfni512() == nullptr) GTEST_SKIP() << "this CPU has no AVX-512 with GFNI";
  const Drawn drawn(1);
  Labels expected(kPlaces), got = drawn.vector;
  kernel_reference()->expand(drawn.vector.data(), drawn.table, expected.data());
  kernel_gfni512()->expand(got.data(), drawn.table, got.data());
  EXPECT_EQ(got, expected);
  for (const unsigned place : {0u, 1u, 7u, 130u, 255u})
    EXPECT_EQ(kernel_gfni512()->look_up(drawn.vector.data(), drawn.table,
                                        static_cast<std::uint8_t>(place)),
              expected[place]);
}

TEST(LutKernel, SharesAreOctetZeroOfLabels) {
  for (const Kernel* kernel : {kernel_reference(), kernel_gfni512()}) {
    if (kernel == nullptr) continue;
    for (const unsigned seed : {2u, 3u}) {
      const Drawn drawn(seed);
      Labels labels(kPlaces);
      Table shares;
      kernel->expand(drawn.vector.data(), drawn.table, labels.data());
      kernel->expand_shares(drawn.bits.data(), 1, drawn.table, shares.data());
      for (std::size_t i = 0; i < kPlaces; ++i) EXPECT_EQ(shares[i], labels[i].low & 0xff) << i;
    }
  }
}

TEST(LutKernel, AOneHotVectorTurnsTheTable) {
  const Drawn drawn(4);
  for (const Kernel* kernel : {kernel_reference(), kernel_gfni512()}) {
    if (kernel == nullptr) continue;
    Labels vector(kPlaces);
    vector[77] = {1, 0};
    kernel->expand(vector.data(), drawn.table, vector.data());
    for (std::size_t i = 0; i < kPlaces; ++i) EXPECT_EQ(vector[i], (Label{drawn.table[i ^ 77], 0}));
  }
}

TEST(LutKernel, BothFinishARoundAlike) {
  if (kernel_gfni512() == nullptr) GTEST_SKIP() << "this CPU has no AVX-512 with GFNI";
  const Drawn drawn(5);
  for (const bool last : {false, true}) {
    Labels expected(16), got(16);
    kernel_reference()->finish_round(&drawn.vector[0], &drawn.vector[16], last, expected.data());
    kernel_gfni512()->finish_round(&drawn.vector[0], &drawn.vector[16], last, got.data());
    EXPECT_EQ(got, expected);
    std::uint8_t factors[16];
    for (std::size_t k = 0; k < 16; ++k) factors[k] = drawn.table[k];
    EXPECT_EQ(kernel_reference()->dot(drawn.vector.data(), factors, 16),
              kernel_gfni512()->dot(drawn.vector.data(), factors, 16));
    // Five states of shares: a register and a rest.
    std::vector<std::uint8_t> states[2];
    for (std::size_t k = 0; k < 80; ++k)
      states[0].push_back(static_cast<std::uint8_t>(drawn.vector[k].high));
    states[1] = states[0];
    kernel_reference()->finish_shares(states[0].data(), 5, drawn.bits.data(), last);
    kernel_gfni512()->finish_shares(states[1].data(), 5, drawn.bits.data(), last);
    EXPECT_EQ(states[0], states[1]);
  }
}

}  // namespace
}  // namespace tkdc::lut
