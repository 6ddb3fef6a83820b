// SPDX-License-Identifier: Apache-2.0
// Two administrators, two keys, one request.
#include "service/export/approval.h"

#include <gtest/gtest.h>

#include "service/export/approver_key.h"

namespace tkdc {
namespace {

class Approvals : public testing::Test {
 protected:
  Approvals() {
    for (int party = 0; party < 3; ++party)
      approvers_.push_back({"admin" + std::to_string(party), party,
                            approver_public_key(seeds_[static_cast<std::size_t>(party)])});
    request_.fill(5);
  }
  Approval by(std::size_t who) const { return approve(request_, seeds_[who]); }
  std::string trouble(std::vector<Approval> approvals) const {
    auto checked = check_approvals(request_, approvals, approvers_);
    return checked.ok() ? "" : checked.error().message;
  }

  const SecretBuffer seeds_[4] = {draw_approver_seed(), draw_approver_seed(), draw_approver_seed(),
                                  draw_approver_seed()};
  std::vector<Approver> approvers_;
  Digest request_{};
};

TEST_F(Approvals, OfAnyTwoServersAreEnough) {
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      EXPECT_EQ(trouble({by(a), by(b)}).empty(), a != b) << a << b;
  EXPECT_NE(trouble({}).find("there is 0"), std::string::npos);
  EXPECT_NE(trouble({by(0)}).find("there is 1"), std::string::npos);
  EXPECT_NE(trouble({by(0), by(1), by(2)}), "");
}

TEST_F(Approvals, AreOfListedKeysAndThisRequest) {
  EXPECT_NE(trouble({by(0), by(3)}).find("by none"), std::string::npos);
  Digest other = request_;
  other[31] ^= 1;
  EXPECT_NE(trouble({by(0), approve(other, seeds_[1])}).find("another request"), std::string::npos);
  Approval claimed = approve(other, seeds_[1]);
  claimed.request = request_;
  EXPECT_NE(trouble({by(0), claimed}).find("does not hold"), std::string::npos);
  for (std::size_t at = 0; at < 64; ++at) {
    Approval changed = by(1);
    changed.signature[at] ^= 4;
    EXPECT_NE(trouble({by(0), changed}), "") << at;
  }
  approvers_.clear();
  EXPECT_NE(trouble({by(0), by(1)}).find("lists no"), std::string::npos);
}

TEST_F(Approvals, AreReadAsWrittenAndInNoOtherForm) {
  const std::string text = encode(by(1));
  EXPECT_LE(text.size(), kMaxApprovalBytes);
  auto read = decode_approval(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(encode(*read), text);
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(decode_approval(text.substr(0, bytes)).ok()) << bytes;
  EXPECT_FALSE(decode_approval(text + "\n").ok());
}

TEST(ApproverKeys, OpenWithTheirPassphraseOnly) {
  const SecretBuffer seed = draw_approver_seed();
  const Bytes right(12, 'a'), wrong(12, 'b');
  auto locked = lock_approver_seed(seed, right);
  ASSERT_TRUE(locked.ok());
  EXPECT_LE(locked->size(), kMaxApproverKeyBytes);
  auto opened = unlock_approver_seed(*locked, right);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(approver_public_key(*opened), approver_public_key(seed));
  EXPECT_FALSE(unlock_approver_seed(*locked, wrong).ok());
  Bytes changed = *locked;
  changed.back() ^= 1;
  EXPECT_FALSE(unlock_approver_seed(changed, right).ok());
  EXPECT_FALSE(unlock_approver_seed(ByteSpan(*locked).first(locked->size() - 1), right).ok());
}

}  // namespace
}  // namespace tkdc
