// SPDX-License-Identifier: Apache-2.0
// Kernels against AES by OpenSSL, arithmetic written out, and each other.
#include "ot/kernel.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cstring>
#include <memory>

#include "ot/correlated.h"

namespace tkdc::ot {
namespace {

class EachKernel : public testing::TestWithParam<const Kernel*> {};
INSTANTIATE_TEST_SUITE_P(Kernels, EachKernel, testing::ValuesIn(kernels()),
                         [](const auto& one) { return std::string(one.param->name); });

using Aligned = std::vector<std::uint8_t, WipingAllocator<std::uint8_t>>;

Label by_openssl(const Label& key, const Label& block) {
  std::uint8_t out[32];
  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                          EVP_CIPHER_CTX_free);
  int bytes = 0;
  EXPECT_EQ(EVP_EncryptInit_ex(context.get(), EVP_aes_128_ecb(), nullptr,
                               reinterpret_cast<const std::uint8_t*>(&key), nullptr),
            1);
  EXPECT_EQ(EVP_EncryptUpdate(context.get(), out, &bytes,
                              reinterpret_cast<const std::uint8_t*>(&block), 16),
            1);
  Label result;
  std::memcpy(&result, out, 16);
  return result;
}

Label block_of(const std::uint8_t* column, std::size_t block) {
  Label out;
  std::memcpy(&out, column + block * kBlockBytes, kLabelBytes);
  return out;
}

TEST_P(EachKernel, ExpandsLeavesAsOpenSslDoes) {
  std::mt19937_64 generator(1);
  for (unsigned levels = kLeastLevels; levels <= kMostLevels; ++levels)
    for (const bool punctured : {false, true}) {
      Labels seeds(std::size_t{1} << levels);
      for (Label& seed : seeds) seed = random_label(generator);
      std::vector<LeafKeys> leaves(seeds.size());
      GetParam()->expand_keys(seeds, leaves.data());
      constexpr std::size_t kBlocks = 2 * kBlocksAtOnce;
      Aligned sum(kBlocks * kBlockBytes), columns(levels * kBlocks * kBlockBytes);
      std::vector<std::uint8_t*> bits;
      for (unsigned b = 0; b < levels; ++b)
        bits.push_back(columns.data() + b * kBlocks * kBlockBytes);
      const std::uint64_t first = generator() >> 20;
      GetParam()->expand(
          {leaves.data(), levels, first, kBlocks, punctured ? nullptr : sum.data(), bits.data()});
      for (const std::size_t block : {std::size_t{0}, std::size_t{7}, kBlocks - 1}) {
        Label all;
        std::vector<Label> of(levels);
        for (std::size_t x = 0; x < seeds.size(); ++x) {
          const Label stream = by_openssl(seeds[x], {first + block, 0});
          all = all ^ stream;
          for (unsigned b = 0; b < levels; ++b) of[b] = of[b] ^ stream.where(x >> b & 1);
        }
        EXPECT_TRUE(punctured || block_of(sum.data(), block) == all);
        for (unsigned b = 0; b < levels; ++b)
          EXPECT_EQ(block_of(bits[b], block), of[b]) << levels << " " << b << " " << block;
      }
    }
}

// X · a.
Label doubled(const Label& a) {
  return {a.low << 1 ^ (0x87 & (0 - (a.high >> 63))), a.high << 1 | a.low >> 63};
}

Label product(const Label& a, Label b) {
  Label out;
  for (unsigned i = 0; i < 128; ++i, b = doubled(b))
    out = out ^ b.where((i < 64 ? a.low >> i : a.high >> (i - 64)) & 1);
  return out;
}

struct RandomColumns {
  RandomColumns(std::mt19937_64& generator, std::size_t blocks)
      : octets((kColumns + 1) * (blocks * kBlockBytes + 64)), columns{octets.data(),
                                                                      blocks * kBlockBytes + 64} {
    for (std::uint8_t& octet : octets) octet = static_cast<std::uint8_t>(generator());
  }
  Aligned octets;
  Columns columns;
};

TEST_P(EachKernel, FoldsColumnsInTheField) {
  std::mt19937_64 generator(2);
  constexpr std::size_t kBlocks = 2 * kBlocksAtOnce;
  const RandomColumns random(generator, kBlocks);
  Labels factors(kBlocks), out(kColumns + 1);
  for (Label& factor : factors) factor = random_label(generator);
  factors[1] = {0, std::uint64_t{1} << 63};
  GetParam()->fold(random.columns, kColumns + 1, factors, out.data());
  for (std::size_t c = 0; c <= kColumns; ++c) {
    Label expected;
    for (std::size_t b = 0; b < kBlocks; ++b)
      expected = expected ^
                 product(factors[b], block_of(random.octets.data() + c * random.columns.stride, b));
    ASSERT_EQ(out[c], expected) << c;
  }
}

TEST_P(EachKernel, TransposesEachBit) {
  std::mt19937_64 generator(3);
  constexpr std::size_t kBlocks = 2 * kBlocksAtOnce;
  const RandomColumns random(generator, kBlocks);
  Labels rows(kBlocks * kBlockRows);
  GetParam()->transpose(random.columns, kBlocks, rows.data());
  for (std::size_t j = 0; j < rows.size(); ++j)
    for (std::size_t c = 0; c < kColumns; ++c) {
      const unsigned bit = random.octets[c * random.columns.stride + j / 8] >> (j % 8) & 1;
      ASSERT_EQ((c < 64 ? rows[j].low >> c : rows[j].high >> (c - 64)) & 1, bit) << j << " " << c;
    }
}

TEST_P(EachKernel, AddsWhereTheBitIsSet) {
  Aligned to(256, 0x0f), what(256, 0x3c);
  GetParam()->add_where(to.data(), what.data(), 128, 0);
  EXPECT_EQ(to, Aligned(256, 0x0f));
  GetParam()->add_where(to.data(), what.data(), 128, 1);
  EXPECT_EQ(to[0], 0x33);
  EXPECT_EQ(to[127], 0x33);
  EXPECT_EQ(to[128], 0x0f);
}

TEST(Kernels, AreFoundByName) {
  EXPECT_EQ(*find_kernel("auto"), &fastest_kernel());
  EXPECT_EQ(*find_kernel("reference"), kernel_reference());
  EXPECT_NE(find_kernel("abacus").error().message.find("it has"), std::string::npos);
}

}  // namespace
}  // namespace tkdc::ot
