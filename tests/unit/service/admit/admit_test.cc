// SPDX-License-Identifier: Apache-2.0
// The policy table and the agreement on jobs.
#include "service/admit/admission.h"

#include <gtest/gtest.h>

#include <functional>

#include "service/admit/policy.h"

namespace tkdc {
namespace {

TEST(Policy, ClassifiesPrincipals) {
  const std::pair<const char*, KeyClass> kNames[] = {
      {"alice@DEMO.TEST", KeyClass::kUser},
      {"a\\/b@DEMO.TEST", KeyClass::kUser},
      {"a\\@b@DEMO.TEST", KeyClass::kUser},
      {"host/demo.test@DEMO.TEST", KeyClass::kService},
      {"kadmin/changepw@DEMO.TEST", KeyClass::kKadmin},
      {"kadmin@DEMO.TEST", KeyClass::kUser},
      {"kiprop/kdc.demo.test@DEMO.TEST", KeyClass::kIprop},
      {"kiprop@DEMO.TEST", KeyClass::kUser},
      {"kiprops/kdc.demo.test@DEMO.TEST", KeyClass::kService},
      {"kiprop/kdc.demo.test/x@DEMO.TEST", KeyClass::kService},
      {"krbtgt/DEMO.TEST@DEMO.TEST", KeyClass::kKrbtgt},
      {"krbtgt/OTHER.TEST@DEMO.TEST", KeyClass::kCrossRealm},
      {"krbtgt/demo.test@DEMO.TEST", KeyClass::kCrossRealm},
      {"krbtgt\\/DEMO.TEST@DEMO.TEST", KeyClass::kUser},
      {"krbtgt/DEMO.TEST/x@DEMO.TEST", KeyClass::kService},
  };
  for (const auto& [name, key_class] : kNames) {
    auto classified = classify_principal(name);
    ASSERT_TRUE(classified.ok()) << name;
    EXPECT_EQ(*classified, key_class) << name;
  }
  for (const char* name : {"", "@", "alice", "alice@", "@DEMO.TEST", "K/M@DEMO.TEST"})
    EXPECT_FALSE(classify_principal(name).ok()) << name;
}

// Attacks that single cells would open.
TEST(Policy, RefusesWhatLeaks) {
  using enum KeyClass;
  for (KeyClass c : {kUser, kService, kIprop, kKadmin, kKrbtgt, kCrossRealm}) {
    EXPECT_FALSE(may_use(c, AgentRole::kKdc, TKDC_OP_OPEN, usage::kAsRepEncPart));
    EXPECT_FALSE(may_use(c, AgentRole::kKdc, TKDC_OP_SEAL, usage::kAsReqTimestamp));
    EXPECT_FALSE(may_use(c, AgentRole::kAdmin, TKDC_OP_SEAL, usage::kTicket));
    if (c != kKadmin && c != kIprop) {
      EXPECT_FALSE(may_use(c, AgentRole::kAdmin, TKDC_OP_OPEN, usage::kTicket));
    }
    for (std::uint32_t u = 0; u < 1100; ++u) {
      EXPECT_FALSE(may_use(c, AgentRole::kKdc, TKDC_OP_STAGE, u));
      EXPECT_FALSE(may_use(c, AgentRole::kKdc, TKDC_OP_EXPORT, u));
    }
  }
  EXPECT_FALSE(may_use(kUser, AgentRole::kKdc, TKDC_OP_SEAL, usage::kTicket));
  for (tkdc_wire_op op :
       {TKDC_OP_STAGE, TKDC_OP_EXPORT, TKDC_OP_BIND, TKDC_OP_DESTROY, TKDC_OP_EQUAL}) {
    EXPECT_FALSE(may_manage(AgentRole::kKdc, op));
    EXPECT_TRUE(may_manage(AgentRole::kAdmin, op));
  }
  EXPECT_FALSE(may_manage(AgentRole::kAdmin, TKDC_OP_SEAL));
  EXPECT_FALSE(may_compare(kKrbtgt));
  for (KeyClass c : {kUser, kService, kIprop, kKadmin, kCrossRealm}) EXPECT_TRUE(may_compare(c));
}

JobRequest sample() {
  JobRequest request;
  request.name = {1, 2, 3};
  request.op = TKDC_OP_SEAL;
  request.usage = 2;
  request.public_data = {1, 2};
  for (auto& c : request.component) c.assign(10, 7);
  return request;
}

KeyRecord sample_record() {
  KeyRecord record;
  record.principal_name = "a@B";
  record.fields["key"] = SharedBytes(16);
  return record;
}

TEST(Admission, EveryPublicFieldIsInTheDigest) {
  KeyRecord record = sample_record();
  const Digest base = digest_job(sample(), AgentRole::kKdc, &record, 0).opened;
  const std::function<void(JobRequest&)> kEdits[] = {
      [](JobRequest& r) { r.name.agent++; },
      [](JobRequest& r) { r.name.run++; },
      [](JobRequest& r) { r.name.number++; },
      [](JobRequest& r) { r.op = TKDC_OP_OPEN; },
      [](JobRequest& r) { r.key.id[15] ^= 1; },
      [](JobRequest& r) { r.key.installation[0] ^= 1; },
      [](JobRequest& r) { r.key.principal[31] ^= 1; },
      [](JobRequest& r) { r.key.kvno++; },
      [](JobRequest& r) { r.key.enctype++; },
      [](JobRequest& r) { r.usage++; },
      [](JobRequest& r) { r.protocol = "another"; },
      [](JobRequest& r) { r.public_data[1] ^= 1; },
      [](JobRequest& r) { r.component[0].push_back(0); },
      [](JobRequest& r) {
        r.dealt.assign(1, 0);
        r.dealt_input_bytes = 11;
      },
  };
  for (const auto& edit : kEdits) {
    JobRequest request = sample();
    edit(request);
    EXPECT_NE(digest_job(request, AgentRole::kKdc, &record, 0).opened, base);
  }
  EXPECT_NE(digest_job(sample(), AgentRole::kAdmin, &record, 0).opened, base);
  EXPECT_NE(digest_job(sample(), AgentRole::kKdc, &record, 1).opened, base);
  KeyRecord other = record;
  other.sharing = "another";
  EXPECT_NE(digest_job(sample(), AgentRole::kKdc, &other, 0).opened, base);
  record.version++;
  EXPECT_NE(digest_job(sample(), AgentRole::kKdc, &record, 0).opened, base);
}

TEST(Admission, ComponentsOfInputAndRecordAreInTheirDigests) {
  KeyRecord record = sample_record();
  const JobDigests base = digest_job(sample(), AgentRole::kKdc, &record, 0);
  for (int c = 0; c < 2; ++c) {
    JobRequest request = sample();
    request.component[c][9] ^= 1;
    JobDigests changed = digest_job(request, AgentRole::kKdc, &record, 0);
    EXPECT_NE(changed.component[c], base.component[c]);
    EXPECT_EQ(changed.component[1 - c], base.component[1 - c]);
    EXPECT_EQ(changed.opened, base.opened);
    KeyRecord other = record;
    other.fields["key"].component[c][3] ^= 1;
    EXPECT_NE(digest_job(sample(), AgentRole::kKdc, &other, 0).component[c], base.component[c]);
  }
}

TEST(Admission, JudgesClaims) {
  KeyRecord record = sample_record();
  const JobDigests mine = digest_job(sample(), AgentRole::kKdc, &record, 0);
  const AdmissionStatement same_prev{kAdmit, mine.opened, mine.component[0]};
  const AdmissionStatement same_next{kAdmit, mine.opened, mine.component[1]};
  EXPECT_EQ(judge(kAdmit, mine, same_prev, same_next), kAdmit);
  for (int field = 0; field < 4; ++field) {
    AdmissionStatement prev = same_prev, next = same_next;
    (field == 0   ? prev.opened
     : field == 1 ? prev.component
     : field == 2 ? next.opened
                  : next.component)[7] ^= 1;
    EXPECT_EQ(judge(kAdmit, mine, prev, next), TKDC_STATUS_INCONSISTENT) << field;
  }
  AdmissionStatement missing = same_prev;
  missing.verdict = kMissing;
  EXPECT_EQ(judge(kAdmit, mine, missing, same_next), kMissing);
  AdmissionStatement denied = same_next;
  denied.verdict = TKDC_STATUS_DENIED;
  EXPECT_EQ(judge(kAdmit, mine, same_prev, denied), TKDC_STATUS_INCONSISTENT);
  EXPECT_EQ(judge(TKDC_STATUS_DENIED, mine, same_prev, denied), TKDC_STATUS_DENIED);
}

TEST(Admission, VerdictsCombineAlikeInEveryOrder) {
  const Verdict kAll[] = {kAdmit,
                          TKDC_STATUS_INTEGRITY,
                          TKDC_STATUS_DENIED,
                          TKDC_STATUS_UNKNOWN_KEY,
                          TKDC_STATUS_INCONSISTENT,
                          TKDC_STATUS_LIMIT,
                          kMissing};
  for (Verdict a : kAll)
    for (Verdict b : kAll)
      for (Verdict c : kAll) {
        Verdict v = joint_verdict(a, b, c);
        EXPECT_EQ(v, joint_verdict(c, a, b));
        EXPECT_EQ(v, joint_verdict(b, a, c));
        EXPECT_EQ(v == kAdmit, a == kAdmit && b == kAdmit && c == kAdmit);
      }
}

TEST(Admission, OneServerAloneCannotSayThatThereIsNoSuchKey) {
  constexpr Verdict kNone = TKDC_STATUS_UNKNOWN_KEY;
  EXPECT_EQ(joint_verdict(kNone, kNone, kNone), kNone);
  EXPECT_EQ(joint_verdict(kNone, kAdmit, kNone), kNone);
  EXPECT_EQ(joint_verdict(kAdmit, kNone, kAdmit), TKDC_STATUS_INCONSISTENT);
  EXPECT_EQ(joint_verdict(kAdmit, kNone, kMissing), kMissing) << "it waits for the third";
}

// Or that a password is wrong, which locks accounts.
TEST(Admission, OneServerAloneRefusesNothingForAll) {
  for (tkdc_status one : {TKDC_STATUS_INTEGRITY, TKDC_STATUS_DENIED, TKDC_STATUS_UNKNOWN_KEY,
                          TKDC_STATUS_BAD_REQUEST}) {
    const auto no = static_cast<Verdict>(one);
    EXPECT_EQ(joint_verdict(kAdmit, no, kAdmit), TKDC_STATUS_INCONSISTENT);
    EXPECT_EQ(joint_verdict(no, no, kAdmit), no);
    EXPECT_EQ(joint_verdict(no, no, no), no);
  }
  EXPECT_EQ(joint_verdict(TKDC_STATUS_INTEGRITY, TKDC_STATUS_DENIED, kAdmit),
            TKDC_STATUS_INCONSISTENT);
  EXPECT_EQ(joint_verdict(kAdmit, TKDC_STATUS_LIMIT, kAdmit), TKDC_STATUS_LIMIT)
      << "each for itself";
}

TEST(Admission, WhatIsNoVerdictIsNotRead) {
  const Bytes verdicts = {kAdmit, TKDC_STATUS_INTERNAL, kMissing, TKDC_STATUS_INTERNAL + 1, 254};
  for (std::size_t jobs = 1; jobs <= verdicts.size(); ++jobs) {
    Reader in(verdicts);
    EXPECT_EQ(get_verdicts(in, jobs).ok(), jobs <= 3) << jobs;
  }
  Bytes statement(AdmissionStatement::kBytes);
  Reader good(statement);
  EXPECT_TRUE(get_statements(good, 1).ok());
  statement[0] = 9;
  Reader bad(statement);
  EXPECT_FALSE(get_statements(bad, 1).ok());
}

TEST(Admission, AManifestIsReadAsItWasWritten) {
  Bytes octets;
  put_manifest(octets, {0x1234, {{{1, 2, 3}, 0}, {{4, 5, 6}, 1}}});
  ASSERT_EQ(octets.size(), 4u + 2 + 2 * 25);
  octets.push_back(9);  // what follows is not its
  Reader in(octets);
  const auto manifest = get_manifest(in, 2, 2);
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->sealed_at, 0x1234u);
  EXPECT_EQ(manifest->jobs, (std::vector<NamedJob>{{{1, 2, 3}, 0}, {{4, 5, 6}, 1}}));
  EXPECT_EQ(in.remaining(), 1u);
}

TEST(Admission, AManifestThatIsTooLongOrCutShortIsRefused) {
  Bytes octets;
  put_manifest(octets, {7, {{{1, 2, 3}, 0}, {{4, 5, 6}, 1}}});
  Reader long_one(octets);
  const auto refused = get_manifest(long_one, 1, 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("too many jobs"), std::string::npos);
  for (std::size_t bytes = 0; bytes < octets.size(); ++bytes) {
    Reader cut(ByteSpan(octets).first(bytes));
    EXPECT_FALSE(get_manifest(cut, 2, 2).ok()) << bytes;
  }
}

TEST(Admission, AManifestNamesOnlyTheSessionsProtocols) {
  Bytes octets;
  put_manifest(octets, {7, {{{1, 2, 3}, 1}}});
  Reader of_two(octets), of_one(octets);
  EXPECT_TRUE(get_manifest(of_two, 1, 2).ok());
  const auto refused = get_manifest(of_one, 1, 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("a protocol that the session has not"), std::string::npos);
}

TEST(Admission, ClaimsAndVerdictsAreReadInOrderAndWhole) {
  JobDigests digests;
  digests.opened.fill(1);
  digests.component[0].fill(2);
  digests.component[1].fill(3);
  Bytes octets;
  put_statement(octets, kAdmit, digests, 0);
  put_statement(octets, kMissing, digests, 1);
  Reader in(octets);
  const auto statements = get_statements(in, 2);
  ASSERT_TRUE(statements.ok());
  EXPECT_TRUE(in.complete());
  EXPECT_EQ((*statements)[0].verdict, kAdmit);
  EXPECT_EQ((*statements)[0].component, digests.component[0]);
  EXPECT_EQ((*statements)[1].verdict, kMissing);
  EXPECT_EQ((*statements)[1].opened, digests.opened);
  EXPECT_EQ((*statements)[1].component, digests.component[1]);
  Reader cut(ByteSpan(octets).first(octets.size() - 1));
  EXPECT_FALSE(get_statements(cut, 2).ok());

  const Bytes said = {kAdmit, TKDC_STATUS_DENIED, kMissing};
  Reader three(said), four(said);
  EXPECT_EQ(*get_verdicts(three, 3), (std::vector<Verdict>(said.begin(), said.end())));
  EXPECT_FALSE(get_verdicts(four, 4).ok());
}

}  // namespace
}  // namespace tkdc
