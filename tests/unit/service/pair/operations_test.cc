// SPDX-License-Identifier: Apache-2.0
// What two servers compute under keys that they have made or been given, against libkrb5.
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {
namespace {

using test::Krb5Client;

class PairOperations : public testing::TestWithParam<std::uint32_t> {};

TEST_P(PairOperations, OfAKeyThatWasImported) {
  TwoServices two;
  const std::uint32_t enctype = GetParam();
  const Bytes key = random_octets(enctype % 2 == 1 ? 16 : 32);
  Krb5Client whole(enctype, key);
  const KeyRef ref = two.make_key("alice@R", enctype, key);

  const Bytes plain = random_octets(30), sealed = whole.seal(1, plain);
  auto opened = two.ask({TKDC_OP_OPEN, ref, 1, {}, sealed});
  ASSERT_EQ(opened.both(), TKDC_STATUS_OK) << opened.message[0];
  EXPECT_EQ(opened.output, plain);
  EXPECT_EQ(opened.reply[0].next_output, Digest{});

  Bytes forged = sealed;
  forged[3] ^= 1;
  opened = two.ask({TKDC_OP_OPEN, ref, 1, {}, forged});
  EXPECT_EQ(opened.both(), TKDC_STATUS_INTEGRITY);
  EXPECT_TRUE(opened.reply[0].output.empty());

  const auto reply = two.ask({TKDC_OP_SEAL, ref, 3, {}, plain});
  ASSERT_EQ(reply.both(), TKDC_STATUS_OK) << reply.message[0];
  EXPECT_EQ(whole.open(3, reply.output), plain);

  const auto sum = two.ask({TKDC_OP_MAC, ref, 56, {}, plain});
  ASSERT_EQ(sum.both(), TKDC_STATUS_OK) << sum.message[0];
  EXPECT_EQ(sum.output, whole.checksum(56, plain));
}

INSTANTIATE_TEST_SUITE_P(Enctypes, PairOperations, testing::Values(17u, 18u, 19u));

}  // namespace
}  // namespace tkdc
