// SPDX-License-Identifier: Apache-2.0
#include "base/program_digest.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/hex.h"

namespace tkdc {
namespace {

TEST(ProgramDigest, IsOfTheFileThatRuns) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string octets{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(octets.size(), 64u * 1024) << "more than a piece";
  std::array<std::uint8_t, 32> expected;
  crypto_hash_sha256(expected.data(), reinterpret_cast<const unsigned char*>(octets.data()),
                     octets.size());
  auto digest = program_digest();
  ASSERT_TRUE(digest.ok());
  EXPECT_EQ(*digest, to_hex(expected));
}

}  // namespace
}  // namespace tkdc
