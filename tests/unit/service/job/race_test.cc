// SPDX-License-Identifier: Apache-2.0
// Jobs that hurry: two on one key before the first has run, and inputs so long
// that they would keep a lane busy.
#include "three_services.h"

namespace tkdc {
namespace {

// A drawn key that is not bound yet.
KeyRef staged_key(ThreeServices& e) {
  KeyRef ref;
  ref.installation = kInstallation;
  ref.enctype = 18;
  ref.kvno = 1;
  randombytes_buf(ref.id.data(), ref.id.size());
  const Bytes drawn = {TKDC_ORIGIN_DRAWN};
  EXPECT_EQ(e.run({TKDC_OP_STAGE, ref, 0, drawn, {}, AgentRole::kAdmin}).status(), TKDC_STATUS_OK);
  return ref;
}

ThreeServices::Job bind_to(KeyRef ref, const std::string& name) {
  ref.principal = digest_of(name);
  return ThreeServices::bind_job(ref, name);
}

ThreeServices::Job export_of(const KeyRef& ref) {
  return {TKDC_OP_EXPORT, ref, 0, {}, {}, AgentRole::kAdmin};
}

// Both sent without waiting: exactly one may succeed.
void expect_one_of(ThreeServices& e, const ThreeServices::Job& first,
                   const ThreeServices::Job& second) {
  JobName a = e.send(first), b = e.send(second);
  int succeeded = 0;
  for (const JobName& name : {a, b}) succeeded += e.wait(name).status() == TKDC_STATUS_OK ? 1 : 0;
  EXPECT_EQ(succeeded, 1);
}

TEST(HurriedJobs, ExportIsOnceHoweverFastTheAgentAsks) {
  ThreeServices e;
  for (int k = 0; k < 20; ++k) {
    KeyRef ref = staged_key(e);
    expect_one_of(e, export_of(ref), export_of(ref));
  }
}

TEST(HurriedJobs, ExportedKeyDoesNotBecomeKadmins) {
  ThreeServices e;
  for (int k = 0; k < 20; ++k) {
    KeyRef ref = staged_key(e);
    expect_one_of(e, export_of(ref), bind_to(ref, "kadmin/admin@R"));
  }
}

TEST(HurriedJobs, TwoBindsOfOneKey) {
  ThreeServices e;
  for (int k = 0; k < 20; ++k) {
    KeyRef ref = staged_key(e);
    expect_one_of(e, bind_to(ref, "alice@R"), bind_to(ref, "bob@R"));
    for (int p = 0; p < 3; ++p) EXPECT_TRUE(e.store(p).committed(ref.id).value());
  }
}

TEST(HurriedJobs, TwoRemovalsOfOneKey) {
  ThreeServices e;
  KeyRef ref = e.make_key("alice@R", 17, {});
  ThreeServices::Job destroy{TKDC_OP_DESTROY, ref, 0, {}, {}, AgentRole::kAdmin};
  expect_one_of(e, destroy, destroy);
  for (int p = 0; p < 3; ++p) EXPECT_FALSE(e.store(p).committed(ref.id).value());
}

TEST(OverlongInputs, AreRefusedBeforeTheyRun) {
  ThreeServices e;
  KeyRef alice = e.make_key("alice@R", 18, Bytes(32, 7));
  KeyRef host = e.make_key("host/a@R", 18, {});
  const std::uint64_t rounds = e.service(0).status().rounds;
  EXPECT_EQ(e.run({TKDC_OP_OPEN, alice, 1, {}, Bytes(513)}).status(), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, host, 2, {}, Bytes(8193)}).status(), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(e.run({TKDC_OP_SEAL, host, 2, {}, Bytes(60000)}).status(), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(e.run({TKDC_OP_MAC, alice, 56, {}, Bytes(8193)}).status(), TKDC_STATUS_BAD_REQUEST);
  EXPECT_LT(e.service(0).status().rounds - rounds, 200u);
}

}  // namespace
}  // namespace tkdc
