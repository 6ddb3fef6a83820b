// SPDX-License-Identifier: Apache-2.0
// Derived keys through whole job services, in malicious mode: each is the one that
// libkrb5 derives from the same keys, and good for what its recipe is for alone.
#include "service/operation/derived.h"
#include "support/fast_peer.h"
#include "three_services.h"

namespace tkdc {
namespace {

using test::FastPeer, test::kChallenge, test::kReply, test::recipe, test::operator+;

struct Case {
  std::uint32_t user, armor;  // enctypes
};

class Fast : public testing::TestWithParam<Case> {
 protected:
  Fast()
      : user(some_bytes(tkdc_enctype_of(GetParam().user)->key_bytes)),
        armor(some_bytes(tkdc_enctype_of(GetParam().armor)->key_bytes)) {}
  Bytes user, armor;
  ThreeServices e;
  FastPeer peer;
};

TEST_P(Fast, EncryptedChallenge) {
  const auto [ue, ae] = GetParam();
  KeyRef ref = e.make_key("alice@R", ue, user);
  const Bytes by = recipe(TKDC_DERIVE_CF2, ae, kChallenge), stamp = some_bytes(28);
  const Bytes client = peer.fx_cf2(ae, armor, "clientchallengearmor", ue, user, kChallenge);
  const Bytes to_kdc = peer.known_half(ae, armor, "clientchallengearmor");
  Bytes sent = peer.seal(ae, client, 54, stamp);
  EXPECT_EQ(e.run({TKDC_OP_OPEN_DERIVED, ref, 54, by, to_kdc + sent}).output(), stamp);
  sent[20] ^= 1;
  EXPECT_EQ(e.run({TKDC_OP_OPEN_DERIVED, ref, 54, by, to_kdc + sent}).status(),
            TKDC_STATUS_INTEGRITY);

  const Bytes kdc = peer.fx_cf2(ae, armor, "kdcchallengearmor", ue, user, kChallenge);
  const Bytes to_client = peer.known_half(ae, armor, "kdcchallengearmor");
  const Bytes back = e.run({TKDC_OP_SEAL_DERIVED, ref, 55, by, to_client + stamp}).output();
  EXPECT_EQ(peer.open(ae, kdc, 55, back), stamp);
}

TEST_P(Fast, ReplyKey) {
  const auto [ue, ae] = GetParam();
  KeyRef ref = e.make_key("host/a@R", ue, user);
  const Bytes by = recipe(TKDC_DERIVE_CF2, ae, kReply), body = some_bytes(249);
  const Bytes key = peer.fx_cf2(ae, armor, "strengthenkey", ue, user, kReply);
  const Bytes known_half = peer.known_half(ae, armor, "strengthenkey");
  EXPECT_EQ(
      peer.open(ae, key, 3, e.run({TKDC_OP_SEAL_DERIVED, ref, 3, by, known_half + body}).output()),
      body);
  EXPECT_EQ(e.run({TKDC_OP_MAC_DERIVED, ref, 56, by, known_half + body}).output(),
            peer.checksum(ae, key, 56, body));
}

INSTANTIATE_TEST_SUITE_P(Enctypes, Fast,
                         testing::Values(Case{18, 18}, Case{17, 18}, Case{18, 17}, Case{20, 18},
                                         Case{18, 20}, Case{19, 20}, Case{20, 19}, Case{19, 19}),
                         [](const auto& one) {
                           return "User" + std::to_string(one.param.user) + "Armor" +
                                  std::to_string(one.param.armor);
                         });

TEST(FastCookie, IsWhatKStdOfKrbtgtMakes) {
  ThreeServices e;
  FastPeer peer;
  for (std::uint32_t enctype : {17u, 18u, 19u, 20u}) {
    KeyRef ref = e.make_key("krbtgt/R@R", enctype, {});
    const Bytes by = recipe(TKDC_DERIVE_PRFPLUS, enctype, "COOKIEalice@R");
    const Bytes cookie = some_bytes(90);
    Bytes sealed = e.run({TKDC_OP_SEAL_DERIVED, ref, 513, by, cookie}).output();
    EXPECT_EQ(e.run({TKDC_OP_OPEN_DERIVED, ref, 513, by, sealed}).output(), cookie);
    const Bytes other = recipe(TKDC_DERIVE_PRFPLUS, enctype, "COOKIEbob@R");
    EXPECT_EQ(e.run({TKDC_OP_OPEN_DERIVED, ref, 513, other, sealed}).status(),
              TKDC_STATUS_INTEGRITY);
    Bytes standard;
    for (int p = 0; p < 3; ++p) {
      auto record = e.store(p).get(ref.id);
      const SecretVector& c = (*record)->fields.at("key").component[0];
      standard.resize(c.size());
      xor_bytes(standard.data(), c.data(), c.size());
    }
    const Bytes key = peer.known_half(enctype, standard, "COOKIEalice@R");
    EXPECT_EQ(peer.open(enctype, key, 513, sealed), cookie);
  }
}

// Which recipe goes with which usage: everything else is denied.
TEST(FastPolicy, EachRecipeIsForItsUsageOnly) {
  ThreeServices e;
  KeyRef user = e.make_key("alice@R", 18, some_bytes(32)), tgt = e.make_key("krbtgt/R@R", 18, {});
  KeyRef kadmin = e.make_key("kadmin/admin@R", 18, {});
  auto status = [&](tkdc_wire_op op, const KeyRef& ref, std::uint32_t use, Bytes by,
                    AgentRole role = AgentRole::kKdc) {
    return e.run({op, ref, use, std::move(by), some_bytes(32 + 60), role}).status();
  };
  const Bytes reply = recipe(TKDC_DERIVE_CF2, 18, kReply);
  const Bytes challenge = recipe(TKDC_DERIVE_CF2, 18, kChallenge);
  const auto seal = TKDC_OP_SEAL_DERIVED, open = TKDC_OP_OPEN_DERIVED, mac = TKDC_OP_MAC_DERIVED;
  EXPECT_EQ(status(seal, user, 3, reply), TKDC_STATUS_OK);
  EXPECT_EQ(status(seal, user, 3, challenge), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(open, user, 3, reply), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(open, user, 54, reply), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(open, user, 55, challenge), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(seal, user, 54, challenge), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(mac, user, 54, challenge), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(mac, user, 56, challenge), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(seal, user, 3, reply, AgentRole::kAdmin), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(seal, kadmin, 3, reply), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(seal, tgt, 3, reply), TKDC_STATUS_DENIED);
  const std::string cookie = "COOKIEalice@R";
  EXPECT_EQ(status(seal, tgt, 513, recipe(TKDC_DERIVE_PRFPLUS, 18, cookie)), TKDC_STATUS_OK);
  EXPECT_EQ(status(seal, tgt, 513, recipe(TKDC_DERIVE_PRFPLUS, 18, "cookie")), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(seal, tgt, 513, recipe(TKDC_DERIVE_PRFPLUS, 17, cookie)), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(seal, tgt, 513, recipe(TKDC_DERIVE_CF2, 18, cookie)), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(seal, user, 513, recipe(TKDC_DERIVE_PRFPLUS, 18, cookie)), TKDC_STATUS_DENIED);
  EXPECT_EQ(status(seal, user, 3, recipe(TKDC_DERIVE_PRFPLUS, 18, kReply)), TKDC_STATUS_DENIED);
}

TEST(FastPolicy, MalformedRecipesAreRefused) {
  ThreeServices e;
  KeyRef user = e.make_key("alice@R", 18, some_bytes(32));
  auto status = [&](Bytes by, std::size_t bytes) {
    return e.run({TKDC_OP_SEAL_DERIVED, user, 3, std::move(by), some_bytes(bytes)}).status();
  };
  EXPECT_EQ(status({}, 60), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(status({TKDC_DERIVE_CF2, 0, 0, 0}, 60), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(status(recipe(TKDC_DERIVE_CF2, 18, ""), 60), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(status(recipe(TKDC_DERIVE_CF2, 23, kReply), 60), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(status(recipe(9, 18, kReply), 60), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(status(recipe(TKDC_DERIVE_CF2, 18, std::string(513, 'x')), 60),
            TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(status(recipe(TKDC_DERIVE_CF2, 18, kReply), 31), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(status(recipe(TKDC_DERIVE_CF2, 18, kReply), 32 + 8193), TKDC_STATUS_BAD_REQUEST);
}

// A challenge heralds a reply as a timestamp does.
TEST(FastPolicy, ChallengesHeraldReplies) {
  ThreeServices e;
  FastPeer peer;
  const Bytes key = some_bytes(32), armor = some_bytes(32);
  KeyRef ref = e.make_key("alice@R", 18, key);
  const Bytes known_half = peer.known_half(18, armor, "clientchallengearmor");
  const Bytes client = peer.fx_cf2(18, armor, "clientchallengearmor", 18, key, kChallenge);
  const Bytes sent = peer.seal(18, client, 54, some_bytes(28));
  auto reply = [&] {
    EXPECT_EQ(
        e.run({TKDC_OP_SEAL_DERIVED, ref, 3, recipe(TKDC_DERIVE_CF2, 18, kReply), some_bytes(92)})
            .status(),
        TKDC_STATUS_OK);
    return e.service(0).status().logins_unheralded;
  };
  ASSERT_EQ(e.run({TKDC_OP_OPEN_DERIVED, ref, 54, recipe(TKDC_DERIVE_CF2, 18, kChallenge),
                   known_half + sent})
                .status(),
            TKDC_STATUS_OK);
  EXPECT_EQ(reply(), 0u);
  EXPECT_EQ(reply(), 1u);
}

// cost_of_derived() against the job service's own counters, without other jobs beside it.
TEST(FastCost, IsWhatTheLanesCount) {
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kSemiHonest);
  for (const auto& [user, armor] :
       {std::pair{18u, 18u}, {17u, 18u}, {18u, 17u}, {17u, 20u}, {20u, 17u}, {19u, 19u}}) {
    KeyRef ref = e.make_key("alice@R", user, {});
    const std::size_t known_half = tkdc_enctype_of(armor)->key_bytes;
    for (const auto& [op, use] :
         {std::pair{TKDC_OP_SEAL_DERIVED, 3u}, {TKDC_OP_MAC_DERIVED, 56u}}) {
      const JobServiceStatus before = settled(e);
      Answer answer = e.run(
          {op, ref, use, recipe(TKDC_DERIVE_CF2, armor, kReply), some_bytes(known_half + 100)});
      ASSERT_EQ(answer.status(), TKDC_STATUS_OK);
      const JobServiceStatus after = settled(e);
      const JobCost& cost = answer.reply[0].cost;
      EXPECT_EQ(cost.message_bytes, after.message_bytes_sent - before.message_bytes_sent)
          << user << " " << armor << " " << op;
      EXPECT_EQ(cost.aes_blocks, after.aes_blocks - before.aes_blocks);
      EXPECT_EQ(cost.sha1_blocks, after.sha1_blocks - before.sha1_blocks);
      EXPECT_EQ(cost.sha2_blocks, after.sha2_blocks - before.sha2_blocks);
    }
  }
}

// A record of before, without the field "prf": the same, with more rounds.
TEST(FastRecords, PrfIsMadeWhereARecordHasNone) {
  ThreeServices e;
  FastPeer peer;
  for (std::uint32_t enctype : {18u, 19u}) {
    const Bytes key = some_bytes(tkdc_enctype_of(enctype)->key_bytes), armor = some_bytes(32);
    KeyRef ref = e.make_key("alice@R", enctype, key);
    for (int p = 0; p < 3; ++p) {
      auto record = e.store(p).get(ref.id);
      ASSERT_TRUE(record.ok());
      ASSERT_EQ((*record)->fields.count("prf"), 1u);
      const_cast<KeyRecord&>(**record).fields.erase("prf");  // in the cache
      ASSERT_EQ((*e.store(p).get(ref.id))->fields.count("prf"), 0u);
    }
    const Bytes data = some_bytes(100);
    const Bytes derived = peer.fx_cf2(18, armor, "strengthenkey", enctype, key, kReply);
    const Bytes known_half = peer.known_half(18, armor, "strengthenkey");
    EXPECT_EQ(e.run({TKDC_OP_MAC_DERIVED, ref, 56, recipe(TKDC_DERIVE_CF2, 18, kReply),
                     known_half + data})
                  .output(),
              peer.checksum(18, derived, 56, data));
  }
}

}  // namespace
}  // namespace tkdc
