// SPDX-License-Identifier: Apache-2.0
// SHA-256 and SHA-384 on shares against FIPS 180-4's examples and OpenSSL.
#include "rep3/unit/sha2/sha2.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include "hash_together.h"

namespace tkdc {
namespace {

using test::ThreeParties;

struct Parties {
  Parties(std::uint64_t seed, const HashFunction& function)
      : net(Representation::kBytes, seed), digest_bytes(function.digest_bytes) {
    for (int p = 0; p < 3; ++p) sha2[p] = std::make_unique<Sha2>(*net.party[p], function);
  }
  Bytes hash(ByteSpan message) {
    auto shares = net.share(message);
    auto out = net.shares_of([&](int p) {
      return sha2[p]->compress(test::initial_of(sha2[p]->hash(), p),
                               test::padded(sha2[p]->hash(), p, shares[p]));
    });
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().message);
    EXPECT_TRUE(ThreeParties::consistent(*out));
    Bytes state = ThreeParties::rebuild(*out);
    state.resize(digest_bytes);
    return state;
  }
  ThreeParties net;
  std::size_t digest_bytes;
  std::unique_ptr<Sha2> sha2[3];
};

Bytes expected(const HashFunction& function, ByteSpan message) {
  Bytes out(function.digest_bytes);
  if (&function == &kSha256)
    ::SHA256(message.data(), message.size(), out.data());
  else
    ::SHA384(message.data(), message.size(), out.data());
  return out;
}

class Sha2OnShares : public testing::TestWithParam<const HashFunction*> {};

TEST(Sha2Vectors, Fips180Examples) {
  const std::uint8_t message[] = {'a', 'b', 'c'};
  const Bytes of_sha256 = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
                           0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
                           0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
  const Bytes of_sha384 = {0xcb, 0x00, 0x75, 0x3f, 0x45, 0xa3, 0x5e, 0x8b, 0xb5, 0xa0, 0x3d, 0x69,
                           0x9a, 0xc6, 0x50, 0x07, 0x27, 0x2c, 0x32, 0xab, 0x0e, 0xde, 0xd1, 0x63,
                           0x1a, 0x8b, 0x60, 0x5a, 0x43, 0xff, 0x5b, 0xed, 0x80, 0x86, 0x07, 0x2b,
                           0xa1, 0xe7, 0xcc, 0x23, 0x58, 0xba, 0xec, 0xa1, 0x34, 0xc8, 0x25, 0xa7};
  EXPECT_EQ(Parties(1, kSha256).hash(message), of_sha256);
  EXPECT_EQ(Parties(2, kSha384).hash(message), of_sha384);
}

TEST_P(Sha2OnShares, AgreesWithOpensslOnRandomInputs) {
  Parties s(3, *GetParam());
  for (std::size_t bytes : {0u, 1u, 55u, 56u, 63u, 64u, 65u, 111u, 112u, 127u, 128u, 129u, 300u}) {
    auto message = test::random_bytes(s.net.rng(), bytes);
    EXPECT_EQ(s.hash(message), expected(*GetParam(), message)) << bytes;
  }
}

TEST_P(Sha2OnShares, CountsRounds) {
  Parties s(4, *GetParam());
  auto message = test::random_bytes(s.net.rng(), 20);
  s.hash(message);
  EXPECT_EQ(s.net.party[0]->lane.rounds(), s.sha2[0]->compression_rounds());
  EXPECT_EQ(s.net.party[0]->layer_bytes(), s.sha2[0]->message_bytes());
  EXPECT_EQ(s.sha2[0]->blocks(), GetParam()->blocks_of(20));
}

TEST_P(Sha2OnShares, CompressionsOfDifferentJobsRunTogether) {
  Parties s(5, *GetParam());
  const auto messages = test::short_messages(s.net.rng());
  const std::vector<Bytes> digests = test::hash_together(s.net, s.sha2, *GetParam(), messages);
  EXPECT_EQ(s.net.party[0]->lane.rounds(), s.sha2[0]->compression_rounds());
  for (std::size_t k = 0; k < messages.size(); ++k)
    EXPECT_EQ(digests[k], expected(*GetParam(), messages[k]));
}

INSTANTIATE_TEST_SUITE_P(Variants, Sha2OnShares, testing::Values(&kSha256, &kSha384),
                         [](const auto& one) {
                           return one.param == &kSha256 ? "Sha256" : "Sha384";
                         });

}  // namespace
}  // namespace tkdc
