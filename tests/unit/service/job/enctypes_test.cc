// SPDX-License-Identifier: Apache-2.0
// Each enctype through whole job services, in malicious mode: keys of users and services
// against libkrb5, krbtgt's own form in its enctype's lengths, and what a job of it costs.
#include "cipher/rfc8009.h"
#include "enctype.h"
#include "rebuild_key.h"
#include "service/operation/operations.h"
#include "support/krb5_client.h"

namespace tkdc {
namespace {

class EachEnctype : public testing::TestWithParam<std::uint32_t> {
 protected:
  const tkdc_enctype& enctype() const { return *tkdc_enctype_of(GetParam()); }
};

TEST_P(EachEnctype, AnImportedUserKeyIsWhatTheClientHas) {
  ThreeServices e;
  const Bytes key = some_bytes(enctype().key_bytes);
  KeyRef ref = e.make_key("alice@R", GetParam(), key);
  test::Krb5Client alice(GetParam(), key);
  const Bytes timestamp = some_bytes(28), reply = some_bytes(249);

  Bytes sent = alice.seal(1, timestamp);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 1, {}, sent}).output(), timestamp);
  sent.back() ^= 1;
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 1, {}, sent}).status(), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 1, {}, Bytes(enctype().overhead_bytes - 1)}).status(),
            TKDC_STATUS_BAD_REQUEST);

  Bytes sealed = e.run({TKDC_OP_SEAL, ref, 3, {}, reply}).output();
  EXPECT_EQ(sealed.size(), reply.size() + enctype().overhead_bytes);
  EXPECT_EQ(alice.open(3, sealed), reply);
  EXPECT_EQ(e.run({TKDC_OP_MAC, ref, 56, {}, reply}).output(), alice.checksum(56, reply));
}

TEST_P(EachEnctype, ADrawnServiceKeySealsTicketsAndSignsPacs) {
  ThreeServices e;
  KeyRef ref = e.make_key("host/a@R", GetParam(), {});
  test::Krb5Client service(GetParam(), rebuild_key(e, ref));
  const Bytes ticket = some_bytes(309), pac = some_bytes(144);
  EXPECT_EQ(service.open(2, e.run({TKDC_OP_SEAL, ref, 2, {}, ticket}).output()), ticket);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, service.seal(2, ticket)}).output(), ticket);
  Bytes signed_pac = pac, sum = service.checksum(17, pac);
  EXPECT_EQ(e.run({TKDC_OP_MAC, ref, 17, {}, pac}).output(), sum);
  signed_pac.insert(signed_pac.end(), sum.begin(), sum.end());
  EXPECT_EQ(e.run({TKDC_OP_VERIFY, ref, 17, {}, signed_pac}).status(), TKDC_STATUS_OK);
  signed_pac.back() ^= 0x80;
  EXPECT_EQ(e.run({TKDC_OP_VERIFY, ref, 17, {}, signed_pac}).status(), TKDC_STATUS_INTEGRITY);
}

TEST_P(EachEnctype, KrbtgtsOwnFormHasItsEnctypesLengths) {
  ThreeServices e;
  KeyRef ref = e.make_key("krbtgt/R@R", GetParam(), {});
  const Bytes plain = some_bytes(200), pac = some_bytes(112);
  Bytes ticket = e.run({TKDC_OP_SEAL, ref, 2, {}, plain}).output();
  ASSERT_EQ(ticket.size(), plain.size() + enctype().overhead_bytes);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, ticket}).output(), plain);
  for (std::size_t back : {std::size_t{1}, enctype().overhead_bytes - 27, std::size_t{60}}) {
    Bytes forged = ticket;
    forged[forged.size() - back] ^= 1;
    EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, forged}).status(), TKDC_STATUS_INTEGRITY) << back;
  }
  Bytes signed_pac = pac, sum = e.run({TKDC_OP_MAC, ref, 17, {}, pac}).output();
  ASSERT_EQ(sum.size(), enctype().checksum_bytes);
  signed_pac.insert(signed_pac.end(), sum.begin(), sum.end());
  EXPECT_EQ(e.run({TKDC_OP_VERIFY, ref, 17, {}, signed_pac}).status(), TKDC_STATUS_OK);
  for (std::size_t back : {std::size_t{1}, enctype().checksum_bytes}) {
    Bytes forged = signed_pac;
    forged[forged.size() - back] ^= 1;
    EXPECT_EQ(e.run({TKDC_OP_VERIFY, ref, 17, {}, forged}).status(), TKDC_STATUS_INTEGRITY);
  }
  // Other usages have the standard form: freshness tokens, authentication indicators.
  test::Krb5Client standard(GetParam(), rebuild_key(e, ref));
  for (std::uint32_t u : {64u, 514u}) {
    Bytes token = e.run({TKDC_OP_MAC, ref, u, {}, plain}).output();
    EXPECT_EQ(token, standard.checksum(static_cast<krb5_keyusage>(u), plain));
    Bytes named = plain;
    named.insert(named.end(), token.begin(), token.end());
    EXPECT_EQ(e.run({TKDC_OP_VERIFY, ref, u, {}, named}).status(), TKDC_STATUS_OK);
    named.back() ^= 1;
    EXPECT_EQ(e.run({TKDC_OP_VERIFY, ref, u, {}, named}).status(), TKDC_STATUS_INTEGRITY);
  }
}

// A record from before a usage was its class's: the same result, and what it costs is said.
TEST_P(EachEnctype, KeysOfALaterUsageAreMadeForTheOperation) {
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kSemiHonest);
  const Bytes key = some_bytes(enctype().key_bytes), data = some_bytes(90);
  KeyRef ref = e.make_key("host/a@R", GetParam(), key);
  auto run = [&](tkdc_wire_op op, std::uint32_t use, const Bytes& input) {
    const JobServiceStatus before = settled(e);
    Answer answer = e.run({op, ref, use, {}, input});
    const JobServiceStatus after = settled(e);
    EXPECT_EQ(answer.reply[0].cost.message_bytes,
              after.message_bytes_sent - before.message_bytes_sent)
        << op;
    return answer.output();
  };
  const Bytes stored = run(TKDC_OP_MAC, 64, data);
  for (int p = 0; p < 3; ++p) {
    auto record = e.store(p).get(ref.id);
    ASSERT_TRUE(record.ok());
    auto& fields = const_cast<KeyRecord&>(**record).fields;  // in the cache
    ASSERT_EQ(fields.erase("u64.kc"), 1u);
    ASSERT_EQ(fields.erase("u2.ke") + fields.erase("u2.ki"), 2u);
  }
  test::Krb5Client client(GetParam(), key);
  EXPECT_EQ(run(TKDC_OP_MAC, 64, data), client.checksum(64, data));
  EXPECT_EQ(stored, client.checksum(64, data));
  EXPECT_EQ(client.open(2, run(TKDC_OP_SEAL, 2, data)), data);
}

// cost_of() against the job service's own counters, without other jobs beside it.
TEST_P(EachEnctype, CostsWhatItSays) {
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kSemiHonest);
  KeyRef ref = e.make_key("host/a@R", GetParam(), {});
  const Bytes data = some_bytes(200);
  auto spent = [&](tkdc_wire_op op, std::uint32_t use, const Bytes& input) {
    const JobServiceStatus before = settled(e);
    Answer answer = e.run({op, ref, use, {}, input});
    EXPECT_EQ(answer.status(), TKDC_STATUS_OK);
    const JobServiceStatus after = settled(e);
    const JobCost& cost = answer.reply[0].cost;
    EXPECT_EQ(cost.message_bytes, after.message_bytes_sent - before.message_bytes_sent) << op;
    EXPECT_EQ(cost.aes_blocks, after.aes_blocks - before.aes_blocks) << op;
    EXPECT_EQ(cost.sha1_blocks, after.sha1_blocks - before.sha1_blocks) << op;
    EXPECT_EQ(cost.sha2_blocks, after.sha2_blocks - before.sha2_blocks) << op;
    return answer.output();
  };
  const Bytes sealed = spent(TKDC_OP_SEAL, 2, data);
  spent(TKDC_OP_OPEN, 2, sealed);
  const Bytes sum = spent(TKDC_OP_MAC, 17, data);
  Bytes signed_data = data;
  signed_data.insert(signed_data.end(), sum.begin(), sum.end());
  spent(TKDC_OP_VERIFY, 17, signed_data);
}

INSTANTIATE_TEST_SUITE_P(Enctypes, EachEnctype, testing::Values(17u, 18u, 19u, 20u));

TEST(LegacyEnctypes, CannotBeStaged) {
  ThreeServices e;
  for (const auto& [enctype, bytes] :
       {std::pair{16u, 24u}, {23u, 16u}, {25u, 16u}, {26u, 32u}, {3u, 8u}, {0u, 16u}}) {
    KeyRef ref;
    ref.installation = kInstallation;
    randombytes_buf(ref.id.data(), ref.id.size());
    ref.enctype = enctype;
    for (const Bytes& key : {Bytes(), some_bytes(bytes)}) {
      const std::uint8_t origin = key.empty() ? TKDC_ORIGIN_DRAWN : TKDC_ORIGIN_IMPORTED;
      EXPECT_EQ(e.run({TKDC_OP_STAGE, ref, 0, {origin}, key, AgentRole::kAdmin}).status(),
                TKDC_STATUS_BAD_REQUEST)
          << enctype;
    }
  }
}

}  // namespace
}  // namespace tkdc
