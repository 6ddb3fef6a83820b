// SPDX-License-Identifier: Apache-2.0
// The job service against libkrb5, and what agents may not do.
#include "support/krb5_client.h"
#include "three_services.h"

namespace tkdc {
namespace {

TEST(JobService, ImportedUserKeyWorksAsLibkrbExpects) {
  ThreeServices e;
  Bytes key = some_bytes(32);
  KeyRef ref = e.make_key("alice@DEMO.TEST", 18, key);
  test::Krb5Client alice(18, key);

  const Bytes plain = some_bytes(249);
  Answer sealed = e.run({TKDC_OP_SEAL, ref, 3, {}, plain});
  ASSERT_EQ(sealed.status(), TKDC_STATUS_OK);
  EXPECT_EQ(sealed.output().size(), plain.size() + 28);
  EXPECT_EQ(alice.open(3, sealed.output()), plain);

  const Bytes timestamp = some_bytes(28);
  Bytes sent = alice.seal(1, timestamp);
  Answer opened = e.run({TKDC_OP_OPEN, ref, 1, {}, sent});
  ASSERT_EQ(opened.status(), TKDC_STATUS_OK);
  EXPECT_EQ(opened.output(), timestamp);
  sent[20] ^= 1;
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 1, {}, sent}).status(), TKDC_STATUS_INTEGRITY);

  EXPECT_EQ(e.run({TKDC_OP_MAC, ref, 56, {}, plain}).output(), alice.checksum(56, plain));
}

TEST(JobService, TicketsUnderDrawnKrbtgtKeys) {
  ThreeServices e;
  KeyRef ref = e.make_key("krbtgt/DEMO.TEST@DEMO.TEST", 18, {});
  Bytes plain = some_bytes(309);
  Bytes ticket = e.run({TKDC_OP_SEAL, ref, 2, {}, plain}).output();
  Bytes second = e.run({TKDC_OP_SEAL, ref, 2, {}, plain}).output();
  ASSERT_EQ(ticket.size(), plain.size() + 28);
  EXPECT_NE(Bytes(ticket.begin(), ticket.begin() + 12), Bytes(second.begin(), second.begin() + 12));
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, ticket}).output(), plain);
  for (std::size_t at : {0u, 11u, 12u, 200u, 336u}) {
    Bytes forged = ticket;
    forged[at] ^= 1;
    EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, forged}).status(), TKDC_STATUS_INTEGRITY) << at;
  }
  Bytes truncated(ticket.begin(), ticket.begin() + 30);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, truncated}).status(), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, Bytes(27)}).status(), TKDC_STATUS_BAD_REQUEST);

  Bytes pac = some_bytes(112);
  Bytes signature = e.run({TKDC_OP_MAC, ref, 17, {}, pac}).output();
  ASSERT_EQ(signature.size(), 12u);
  Bytes signed_pac = pac;
  signed_pac.insert(signed_pac.end(), signature.begin(), signature.end());
  EXPECT_EQ(e.run({TKDC_OP_VERIFY, ref, 17, {}, signed_pac}).status(), TKDC_STATUS_OK);
  signed_pac[5] ^= 1;
  EXPECT_EQ(e.run({TKDC_OP_VERIFY, ref, 17, {}, signed_pac}).status(), TKDC_STATUS_INTEGRITY);
}

// A key version holds independent values: none of them may follow from K_std.
TEST(JobService, KrbtgtFieldsAreIndependent) {
  ThreeServices e;
  KeyRef ref = e.make_key("krbtgt/DEMO.TEST@DEMO.TEST", 18, {});
  auto rebuild = [&](const std::string& field) {
    Bytes x;
    for (int p = 0; p < 3; ++p) {
      auto record = e.store(p).get(ref.id);
      const SecretVector& c = (*record)->fields.at(field).component[0];
      x.resize(c.size());
      xor_bytes(x.data(), c.data(), c.size());
    }
    return x;
  };
  Bytes standard = rebuild("key"), gcm = rebuild("gcm.rk"), sign = rebuild("sign.rk");
  EXPECT_NE(Bytes(gcm.begin(), gcm.begin() + 32), standard);
  EXPECT_NE(Bytes(sign.begin(), sign.begin() + 32), standard);
  EXPECT_NE(Bytes(sign.begin(), sign.begin() + 32), Bytes(gcm.begin(), gcm.begin() + 32));
  Bytes gcm_h = rebuild("gcm.h"), sign_h = rebuild("sign.h");
  EXPECT_NE(Bytes(gcm_h.begin(), gcm_h.begin() + 16), Bytes(sign_h.begin(), sign_h.begin() + 16));
}

TEST(JobService, KeyManagementIsForAdminAgents) {
  ThreeServices e;
  KeyRef ref;
  ref.installation = kInstallation;
  ref.enctype = 18;
  const std::uint8_t drawn = TKDC_ORIGIN_DRAWN;
  for (tkdc_wire_op op : {TKDC_OP_STAGE, TKDC_OP_EXPORT, TKDC_OP_BIND, TKDC_OP_DESTROY})
    EXPECT_EQ(e.run({op, ref, 0, {drawn}, {}}).status(), TKDC_STATUS_DENIED) << op;
}

TEST(JobService, ServiceKeyIsExportedOnceAndKrbtgtNever) {
  ThreeServices e;
  KeyRef ref;
  ref.installation = kInstallation;
  ref.enctype = 18;
  ref.kvno = 2;
  ref.id[0] = 1;
  const Bytes drawn = {TKDC_ORIGIN_DRAWN};
  ASSERT_EQ(e.run({TKDC_OP_STAGE, ref, 0, drawn, {}, AgentRole::kAdmin}).status(), TKDC_STATUS_OK);
  KeyRef other = ref;
  other.enctype = 35 - ref.enctype;  // 17, 18
  EXPECT_EQ(e.run({TKDC_OP_EXPORT, other, 0, {}, {}, AgentRole::kAdmin}).status(),
            TKDC_STATUS_BAD_REQUEST);
  // As an agent asks: by the id.
  KeyRef asked;
  asked.id = ref.id;
  asked.installation = ref.installation;
  Bytes key = e.run({TKDC_OP_EXPORT, asked, 0, {}, {}, AgentRole::kAdmin}).output();
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(e.run({TKDC_OP_EXPORT, ref, 0, {}, {}, AgentRole::kAdmin}).status(),
            TKDC_STATUS_DENIED);
  KeyRef as_krbtgt = ref;
  as_krbtgt.principal = digest_of("krbtgt/R@R");
  EXPECT_EQ(e.run(ThreeServices::bind_job(as_krbtgt, "krbtgt/R@R")).status(), TKDC_STATUS_DENIED);
  ref.principal = digest_of("host/a@R");
  EXPECT_EQ(e.run(ThreeServices::bind_job(ref, "host/a@R")).status(), TKDC_STATUS_OK);
  EXPECT_EQ(e.run({TKDC_OP_EXPORT, ref, 0, {}, {}, AgentRole::kAdmin}).status(),
            TKDC_STATUS_UNKNOWN_KEY);
  EXPECT_EQ(e.run({TKDC_OP_SEAL, ref, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK);
}

TEST(JobService, ImportedKeysAreNeverExported) {
  ThreeServices e;
  KeyRef ref;
  ref.installation = kInstallation;
  ref.enctype = 17;
  const Bytes imported = {TKDC_ORIGIN_IMPORTED};
  ASSERT_EQ(e.run({TKDC_OP_STAGE, ref, 0, imported, some_bytes(16), AgentRole::kAdmin}).status(),
            TKDC_STATUS_OK);
  EXPECT_EQ(e.run({TKDC_OP_EXPORT, ref, 0, {}, {}, AgentRole::kAdmin}).status(),
            TKDC_STATUS_DENIED);
}

TEST(JobService, HandlesAreBoundToPrincipalKvnoEnctypeAndInstallation) {
  ThreeServices e;
  KeyRef ref = e.make_key("alice@R", 18, some_bytes(32));
  for (int which = 0; which < 5; ++which) {
    KeyRef other = ref;
    if (which == 0) other.principal = digest_of("bob@R");
    if (which == 1) other.kvno = 2;
    if (which == 2) other.enctype = 17;
    if (which == 3) other.installation[0] ^= 1;
    if (which == 4) other.id[3] ^= 1;
    EXPECT_EQ(e.run({TKDC_OP_SEAL, other, 3, {}, some_bytes(50)}).status(), TKDC_STATUS_UNKNOWN_KEY)
        << which;
  }
}

TEST(JobService, DestroyedKeysAreGone) {
  ThreeServices e;
  KeyRef ref = e.make_key("alice@R", 18, some_bytes(32));
  EXPECT_EQ(e.run({TKDC_OP_DESTROY, ref, 0, {}, {}, AgentRole::kAdmin}).status(), TKDC_STATUS_OK);
  EXPECT_EQ(e.run({TKDC_OP_SEAL, ref, 3, {}, some_bytes(50)}).status(), TKDC_STATUS_UNKNOWN_KEY);
}

TEST(JobService, OneServerAloneCannotSayThatAKeyIsGone) {
  ThreeServices e;
  KeyRef ref = e.make_key("alice@R", 18, some_bytes(32));
  ASSERT_TRUE(e.store(1).destroy(ref.id).ok());
  const auto sealed = e.run({TKDC_OP_SEAL, ref, 3, {}, some_bytes(50)});
  EXPECT_EQ(sealed.status(), TKDC_STATUS_INCONSISTENT);
  EXPECT_NE(sealed.reply[1].message.find("this server holds no such key"), std::string::npos);
  const ThreeServices::Job destroy{TKDC_OP_DESTROY, ref, 0, {}, {}, AgentRole::kAdmin};
  EXPECT_EQ(e.run(destroy).status(), TKDC_STATUS_INCONSISTENT);
}

// What was not bound before cannot be bound any more.
TEST(JobService, StagedKeysAreDestroyedToo) {
  ThreeServices e;
  KeyRef ref;
  ref.installation = kInstallation;
  ref.enctype = 18;
  ref.principal = digest_of("alice@R");
  const ThreeServices::Job destroy{TKDC_OP_DESTROY, ref, 0, {}, {}, AgentRole::kAdmin};
  EXPECT_EQ(e.run(destroy).status(), TKDC_STATUS_UNKNOWN_KEY);
  const Bytes imported = {TKDC_ORIGIN_IMPORTED};
  ASSERT_EQ(e.run({TKDC_OP_STAGE, ref, 0, imported, some_bytes(32), AgentRole::kAdmin}).status(),
            TKDC_STATUS_OK);
  EXPECT_EQ(e.run(destroy).status(), TKDC_STATUS_OK);
  EXPECT_EQ(e.run(ThreeServices::bind_job(ref, "alice@R")).status(), TKDC_STATUS_UNKNOWN_KEY);
  EXPECT_EQ(e.run(destroy).status(), TKDC_STATUS_UNKNOWN_KEY);
}

TEST(JobService, JobThatOneServerNeverGetsExpires) {
  ThreeServices e;
  KeyRef ref = e.make_key("krbtgt/R@R", 18, {});
  for (int only : {0, 1}) {
    JobName name = e.send(
        {TKDC_OP_SEAL, ref, 2, {}, some_bytes(100)},
        [](int, JobRequest& r) { r.deadline_ms = 100; }, only);
    EXPECT_EQ(e.run({TKDC_OP_SEAL, ref, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    for (int p = 0; p < 3; ++p) e.service(p).expire();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(e.service(only).status().pending_jobs, 0u);
    (void)name;
  }
}

TEST(JobService, ManyJobsAtOnce) {
  ThreeServices e;
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {}), alice = e.make_key("alice@R", 18, some_bytes(32));
  std::vector<JobName> names;
  for (int k = 0; k < 200; ++k)
    names.push_back(k % 2 ? e.send({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(200)})
                          : e.send({TKDC_OP_SEAL, alice, 3, {}, some_bytes(60)}));
  std::set<Bytes> nonces;
  for (std::size_t k = 0; k < names.size(); ++k) {
    Answer answer = e.wait(names[k]);
    ASSERT_EQ(answer.status(), TKDC_STATUS_OK);
    Bytes out = answer.output();
    if (k % 2) nonces.insert(Bytes(out.begin(), out.begin() + 12));
  }
  EXPECT_EQ(nonces.size(), 100u);
}

TEST(Nonce, EncodesItsCoordinates) {
  NonceCoordinates c{0, 0xabcde, 0x123456, 0x2a, 0x0abcdef01234};
  EXPECT_EQ(decode_nonce(encode_nonce(c)), c);
}

}  // namespace
}  // namespace tkdc
