// SPDX-License-Identifier: Apache-2.0
// What a server takes as two administrators' approval of dropped keys, and for what.
#include "service/server/give_backs.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "service/store/dropped_table.h"
#include "support/scratch.h"

namespace tkdc {
namespace {

constexpr std::uint64_t kNow = 1'800'000'000, kAt = kNow - 3600;

class GiveBacksTest : public testing::Test {
 protected:
  GiveBacksTest() {
    EXPECT_GE(sodium_init(), 0);
    root_ = test::make_scratch("give-backs");
    SecretBuffer store_key(32);
    randombytes_buf(store_key.data(), store_key.size());
    StoreOptions options;
    options.path = root_ + "/store";
    options.installation.fill(7);
    options.map_bytes = 64u << 20;
    store_ = Store::open(options, store_key).value();
    for (std::uint8_t p = 0; p < 3; ++p) {
      SecretBuffer& seed = seeds_.emplace_back(32);
      randombytes_buf(seed.data(), seed.size());
      SecretBuffer secret(crypto_sign_SECRETKEYBYTES);
      Approver approver{"admin" + std::to_string(p), p, {}};
      crypto_sign_seed_keypair(approver.public_key.data(), secret.data(), seed.data());
      approvers_.push_back(approver);
    }
    request_.installation = options.installation;
    request_.realm = "A.TEST";
    request_.expires_at_s = kNow + 3600;
    for (std::uint8_t number = 1; number <= 2; ++number) add(number);
    start();
  }
  // Knowing nothing of before.
  void start() {
    GiveBacksOptions own;
    own.installation = request_.installation;
    own.approvers = approvers_;
    own.now_s = [this] { return now_; };
    own.audit = [this](const std::string& event) -> Result<void> {
      if (audit_fails_) return fail("the log is full");
      events_.push_back(event);
      return {};
    };
    server_ = std::make_unique<GiveBacks>(std::move(own), *store_);
  }
  ~GiveBacksTest() override {
    store_.reset();
    std::filesystem::remove_all(root_);
  }
  void add(std::uint8_t number) {
    KeyRecord record;
    record.ref.id[0] = number;
    record.ref.installation = request_.installation;
    record.principal_name = "user" + std::to_string(number) + "@A.TEST";
    crypto_hash_sha256(record.ref.principal.data(),
                       reinterpret_cast<const unsigned char*>(record.principal_name.data()),
                       record.principal_name.size());
    record.ref.kvno = 1;
    record.ref.enctype = 18;
    ASSERT_TRUE(store_->prepare(record).ok());
    ASSERT_TRUE(store_->commit(record.ref.id).ok());
    ASSERT_TRUE(store_->dropped()->condemn_to_drop(record.ref.id, kAt).ok());
    ASSERT_TRUE(store_->destroy(record.ref.id).ok());
    request_.keys.push_back({{record.ref.id, 1, 18, record.principal_name}, kAt});
  }
  std::string signed_by(std::size_t who, const std::string& text) const {
    return encode(approve(give_back_digest(text), seeds_[who]));
  }
  // Why not; empty: allowed.
  std::string allow(const GiveBackRequest& request, std::vector<std::size_t> who = {0, 2}) {
    const std::string text = encode(request);
    std::vector<std::string> approvals;
    for (std::size_t one : who) approvals.push_back(signed_by(one, text));
    auto said = server_->allow(text, approvals);
    return said.ok() ? "" : said.error().message;
  }
  bool may(std::size_t key) {
    const auto record = store_->dropped()->dropped_record(request_.keys[key].key.id).value();
    return record != nullptr && server_->may(*record);
  }
  void give_back(std::size_t key) {
    const KeyId id = request_.keys[key].key.id;
    ASSERT_TRUE(store_->dropped()->prepare_change(id, DroppedChange::kGiveBack).ok());
    ASSERT_TRUE(store_->commit(id).ok());
  }
  void expect_refused(const std::string& why, const std::string& part) {
    EXPECT_NE(why.find(part), std::string::npos) << why;
    EXPECT_FALSE(may(0));
    EXPECT_NE(events_.back().find("refused"), std::string::npos);
  }

  std::string root_;
  std::unique_ptr<Store> store_;
  std::vector<SecretBuffer> seeds_;
  std::vector<Approver> approvers_;
  GiveBackRequest request_;
  std::uint64_t now_ = kNow;
  bool audit_fails_ = false;
  std::vector<std::string> events_;
  std::unique_ptr<GiveBacks> server_;
};

TEST_F(GiveBacksTest, TwoAdministratorsAllowEachKeyOnceUntilTheRequestExpires) {
  EXPECT_FALSE(may(0));
  EXPECT_EQ(allow(request_), "");
  EXPECT_TRUE(may(0));
  EXPECT_TRUE(may(1));
  server_->done(request_.keys[0].key.id);
  EXPECT_FALSE(may(0));
  EXPECT_TRUE(may(1));
  now_ = request_.expires_at_s;
  EXPECT_FALSE(may(1));
  EXPECT_NE(events_.back().find("admin0"), std::string::npos);
}

TEST_F(GiveBacksTest, OneAdministratorIsNotEnough) {
  expect_refused(allow(request_, {0}), "two");
  expect_refused(allow(request_, {1, 1}), "");
  expect_refused(allow(request_, {}), "");
}

TEST_F(GiveBacksTest, AnApprovalOfSomethingElseIsNone) {
  const std::string text = encode(request_);
  GiveBackRequest other = request_;
  other.keys.pop_back();
  const std::string of_other = signed_by(0, encode(other));
  auto said = server_->allow(text, {of_other, signed_by(1, text)});
  ASSERT_FALSE(said.ok());
  expect_refused(said.error().message, "");
  // Of an export of the same text.
  const std::string exported = encode(approve(request_digest(text), seeds_[0]));
  said = server_->allow(text, {exported, signed_by(1, text)});
  ASSERT_FALSE(said.ok());
  expect_refused(said.error().message, "");
}

TEST_F(GiveBacksTest, EachFieldHasToBeAsItIsHere) {
  const auto changed = [&](const std::function<void(GiveBackRequest&)>& how) {
    GiveBackRequest one = request_;
    how(one);
    return allow(one);
  };
  expect_refused(changed([](GiveBackRequest& r) { r.installation[0] ^= 1; }), "installation");
  expect_refused(changed([](GiveBackRequest& r) { r.expires_at_s = kNow; }), "expired");
  expect_refused(changed([](GiveBackRequest& r) { r.expires_at_s = kNow + 86'401; }), "24 hours");
  expect_refused(changed([](GiveBackRequest& r) { ++r.keys[0].dropped_at_s; }), "another time");
  expect_refused(changed([](GiveBackRequest& r) { ++r.keys[0].key.kvno; }), "another");
  expect_refused(changed([](GiveBackRequest& r) { r.keys[0].key.principal = "root@A.TEST"; }),
                 "another");
  expect_refused(changed([](GiveBackRequest& r) { r.keys[1].key.id[0] = 9; }), "not dropped here");
  // What was purged.
  const KeyId id = request_.keys[1].key.id;
  ASSERT_TRUE(store_->dropped()->prepare_change(id, DroppedChange::kPurge).ok());
  ASSERT_TRUE(store_->commit(id).ok());
  expect_refused(allow(request_), "never comes back");
}

// It knows nothing of what it allowed: the same request and approvals are good for the rest.
TEST_F(GiveBacksTest, AServerThatStoppedInTheMiddleIsToldAgain) {
  EXPECT_EQ(allow(request_), "");
  give_back(0);
  start();
  EXPECT_FALSE(may(1));
  const std::string text = encode(request_);
  EXPECT_FALSE(server_->approval(text, signed_by(0, text)).ok()) << "nobody approves it anew";
  GiveBackRequest wrong = request_;
  wrong.keys[0].key.principal = "root@A.TEST";
  EXPECT_NE(allow(wrong).find("another"), std::string::npos) << "in use, and another one";
  EXPECT_NE(allow(request_, {0}), "");
  EXPECT_FALSE(may(1));
  EXPECT_EQ(allow(request_), "");
  EXPECT_TRUE(may(1));
  EXPECT_NE(events_.back().find("\"in_use\":1,\"keys\":1"), std::string::npos) << events_.back();
  give_back(1);
  EXPECT_EQ(allow(request_), "") << "nothing is left to do";
  // What was in use then, and has gone since, does not come back with it.
  const KeyId id = request_.keys[0].key.id;
  ASSERT_TRUE(store_->dropped()->condemn_to_drop(id, kAt + 64).ok());
  ASSERT_TRUE(store_->destroy(id).ok());
  EXPECT_FALSE(may(0));
  expect_refused(allow(request_), "another time");
}

TEST_F(GiveBacksTest, AKeyThatIsDroppedAnewNeedsAnotherApproval) {
  EXPECT_EQ(allow(request_), "");
  const KeyId id = request_.keys[0].key.id;
  give_back(0);
  ASSERT_TRUE(store_->dropped()->condemn_to_drop(id, kAt + 64).ok());
  ASSERT_TRUE(store_->destroy(id).ok());
  EXPECT_FALSE(may(0));
}

TEST_F(GiveBacksTest, WhatCannotBeLoggedIsNotAllowed) {
  audit_fails_ = true;
  EXPECT_NE(allow(request_).find("the log is full"), std::string::npos);
  EXPECT_FALSE(may(0));
}

TEST_F(GiveBacksTest, EachApprovesAtHisOwnServer) {
  const std::string text = encode(request_);
  EXPECT_TRUE(server_->approval(text, signed_by(0, text)).ok());
  EXPECT_FALSE(server_->approval(text, signed_by(1, text)).ok());
  EXPECT_FALSE(may(0)) << "approved, and not yet allowed";
}

TEST_F(GiveBacksTest, ARequestIsWrittenInOneWay) {
  const std::string text = encode(request_);
  EXPECT_TRUE(is_give_back_request(text));
  EXPECT_EQ(encode(decode_give_back_request(text).value()), text);
  for (const std::string& bad :
       {text + "x", text.substr(0, text.size() - 1), "tkdc-export-request 1" + text.substr(24),
        std::string(text).replace(text.find("keys 2"), 6, "keys 02")})
    EXPECT_FALSE(decode_give_back_request(bad).ok()) << bad;
  request_.keys.clear();
  EXPECT_FALSE(decode_give_back_request(encode(request_)).ok());
}

}  // namespace
}  // namespace tkdc
