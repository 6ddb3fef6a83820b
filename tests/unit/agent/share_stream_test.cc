// SPDX-License-Identifier: Apache-2.0
#include "agent/share_stream.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tkdc::agent {
namespace {

SecretVector joined(const std::array<SecretVector, 3>& x) {
  SecretVector out(x[0].size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[0][i] ^ x[1][i] ^ x[2][i];
  return out;
}

TEST(ShareStream, ComponentsAddUpToTheSecret) {
  ShareStream stream;
  for (std::size_t bytes : {0u, 1u, 31u, 162u, 65536u, 65600u}) {
    SecretVector secret(bytes);
    if (bytes > 0) randombytes_buf(secret.data(), bytes);
    EXPECT_EQ(joined(split(stream, secret)), secret) << bytes;
  }
}

TEST(ShareStream, EqualSecretsGetDifferentShares) {
  ShareStream stream;
  SecretVector secret(64, 0x41);
  auto a = split(stream, secret);
  auto b = split(stream, secret);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NE(a[i], b[i]);
}

TEST(ShareStream, NoBlockOfTheStreamComesTwice) {
  ShareStream stream;
  std::set<std::string> seen;
  // Well past a refill, at sizes that do not divide the pool.
  for (int i = 0; i < 20'000; ++i) {
    std::string piece(29, '\0');
    stream.fill({reinterpret_cast<std::uint8_t*>(piece.data()), piece.size()});
    EXPECT_TRUE(seen.insert(piece).second);
  }
}

TEST(ShareStream, TwoAgentsDrawDifferentStreams) {
  ShareStream a;
  ShareStream b;
  std::array<std::uint8_t, 32> x{};
  std::array<std::uint8_t, 32> y{};
  a.fill(x);
  b.fill(y);
  EXPECT_NE(x, y);
}

// Any two components of a fixed secret look the same as any two of another:
// a crude test that each component alone has about as many ones as zeros.
TEST(ShareStream, EachComponentIsBalanced) {
  ShareStream stream;
  auto x = split(stream, SecretVector(60'000, 0xff));
  for (const SecretVector& component : x) {
    long ones = 0;
    for (std::uint8_t octet : component) ones += __builtin_popcount(octet);
    EXPECT_NEAR(double(ones), 240'000.0, 2'500.0);
  }
}

}  // namespace
}  // namespace tkdc::agent
