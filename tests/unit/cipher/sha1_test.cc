// SPDX-License-Identifier: Apache-2.0
// SHA-1 on shares against FIPS 180-4's example and OpenSSL.
#include "cipher/sha1/sha1.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include "support/three_parties.h"

namespace tkdc {
namespace {

using test::ThreeParties;

struct Parties {
  explicit Parties(std::uint64_t seed) : net(Representation::kBytes, seed) {
    for (int p = 0; p < 3; ++p) sha1[p] = std::make_unique<Sha1>(*net.party[p]);
  }
  Bytes hash(ByteSpan message) {
    auto shares = net.share(message);
    auto out = net.shares_of(
        [&](int p) { return sha1[p]->finish(sha1[p]->initial(), shares[p], 0); });
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().message);
    EXPECT_TRUE(ThreeParties::consistent(*out));
    return ThreeParties::rebuild(*out);
  }
  ThreeParties net;
  std::unique_ptr<Sha1> sha1[3];
};

TEST(Sha1OnShares, Fips180Example) {
  Parties s(1);
  const std::uint8_t message[] = {'a', 'b', 'c'};
  const Bytes expected = {0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
                          0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d};
  EXPECT_EQ(s.hash(message), expected);
}

TEST(Sha1OnShares, AgreesWithOpensslOnRandomInputs) {
  Parties s(2);
  for (std::size_t bytes : {0u, 1u, 54u, 55u, 56u, 63u, 64u, 65u, 200u}) {
    auto message = test::random_bytes(s.net.rng(), bytes);
    Bytes expected(20);
    ::SHA1(message.data(), bytes, expected.data());
    EXPECT_EQ(s.hash(message), expected) << bytes;
  }
}

TEST(Sha1OnShares, CountsRounds) {
  Parties s(3);
  auto message = test::random_bytes(s.net.rng(), 20);
  s.hash(message);
  EXPECT_EQ(s.net.party[0]->rounds(), static_cast<std::uint64_t>(Sha1::kRounds));
  EXPECT_EQ(s.net.party[0]->layer_bytes(), Sha1::kMessageBytes);
}

TEST(Sha1OnShares, CompressionsOfDifferentJobsRunTogether) {
  Parties s(4);
  constexpr std::size_t kJobs = 5;
  std::vector<std::array<SharedBytes, 3>> in, out(kJobs);
  std::vector<SecretVector> messages;
  for (std::size_t k = 0; k < kJobs; ++k) {
    messages.push_back(test::random_bytes(s.net.rng(), 10 * k));
    in.push_back(s.net.share(messages.back()));
  }
  auto one = [&](int p, std::size_t k) -> Task<void> {
    out[k][p] = co_await s.sha1[p]->finish(s.sha1[p]->initial(), in[k][p], 0);
  };
  auto ran = s.net.run([&](int p) {
    std::vector<Task<void>> jobs;
    for (std::size_t k = 0; k < kJobs; ++k) jobs.push_back(one(p, k));
    return all(*s.net.party[p], std::move(jobs));
  });
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(s.net.party[0]->rounds(), static_cast<std::uint64_t>(Sha1::kRounds));
  for (std::size_t k = 0; k < kJobs; ++k) {
    Bytes expected(20);
    ::SHA1(messages[k].data(), messages[k].size(), expected.data());
    EXPECT_EQ(ThreeParties::rebuild(out[k]), expected);
  }
}

}  // namespace
}  // namespace tkdc
