// SPDX-License-Identifier: Apache-2.0
// A server whose audit log cannot be written: nothing leaves it that no line speaks of, and the
// agent hears why (docs/adr/0038).
#include "service/sealing/seal_counts.h"
#include "three_services.h"

namespace tkdc {
namespace {

bool is_zero(const Digest& digest) {
  return std::ranges::all_of(digest, [](std::uint8_t octet) { return octet == 0; });
}

TEST(Unaudited, WhatAServerCannotWriteDownItKeepsBack) {
  ThreeServices e(1);
  const KeyRef key = e.make_key("krbtgt/R@R", 18, {});
  const ThreeServices::Job seal{TKDC_OP_SEAL, key, 2, {}, some_bytes(100)};
  ASSERT_EQ(e.run(seal).status(), TKDC_STATUS_OK);
  for (int party = 0; party < 3; ++party) {
    e.fail_audit(party, true);
    const Answer answer = e.run(seal);
    for (int p = 0; p < 3; ++p) {
      const JobReply& reply = answer.reply[p];
      EXPECT_EQ(reply.status, p == party ? TKDC_STATUS_UNAVAILABLE : TKDC_STATUS_OK);
      EXPECT_EQ(reply.output.empty(), p == party);
      EXPECT_EQ(is_zero(reply.next_output), p == party);
    }
    EXPECT_NE(answer.reply[party].message.find("audit log"), std::string::npos);
    e.fail_audit(party, false);
  }
  EXPECT_EQ(e.run(seal).status(), TKDC_STATUS_OK);
}

TEST(Unaudited, NoJobIsRunAndNobodyWaits) {
  std::atomic<bool> works{true};
  ThreeServices e(1, 1, SealCounts::kLimit, 0, Security::kMalicious, nullptr,
                  [&works](JobServiceOptions& o) {
                    if (o.party == 2) o.audit_works = [&works] { return works.load(); };
                  });
  const KeyRef key = e.make_key("krbtgt/R@R", 18, {});
  const ThreeServices::Job seal{TKDC_OP_SEAL, key, 2, {}, some_bytes(100)};
  ASSERT_EQ(e.run(seal).status(), TKDC_STATUS_OK);
  works = false;
  const auto done = e.service(0).status().operations;
  const Answer refused = e.run(seal);
  EXPECT_EQ(refused.status(), TKDC_STATUS_UNAVAILABLE)
      << "no refusal: that would be a wrong password";
  EXPECT_NE(refused.reply[2].message.find("audit log"), std::string::npos)
      << refused.reply[2].message;
  EXPECT_EQ(e.service(0).status().operations, done);
  works = true;
  EXPECT_EQ(e.run(seal).status(), TKDC_STATUS_OK);
}

}  // namespace
}  // namespace tkdc
