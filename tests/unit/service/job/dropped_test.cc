// SPDX-License-Identifier: Apache-2.0
// Keys that are removed in sessions which keep them: no operation has them until all three servers
// have two administrators' approval; what was purged never comes back; audits, refreshes and
// repairs have them like any other.
#include "service/store/dropped_table.h"
#include "shares_repaired.h"

namespace tkdc {
namespace {

constexpr const char* kHost = "host/a.test@A.TEST";

class DroppedKeys : public testing::Test {
 protected:
  DroppedKeys()
      : s(2, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, nullptr,
          [this](JobServiceOptions& options) {
            const auto p = static_cast<std::size_t>(options.party);
            options.may_give_back = [this, p](const KeyRecord&) { return allowed[p].load(); };
            options.given_back = [this, p](const KeyId&) { allowed[p] = false; };
          }) {
    s.session_edit = [](int, Session& session) { session.features = {kKeepsDropped}; };
    s.restart(2, [](int) {});
    key = s.make_key(kHost, 18, {});
  }
  tkdc_status ask(tkdc_wire_op op, AgentRole role = AgentRole::kAdmin) {
    return s.run({op, key, 0, {}, {}, role}).status();
  }
  tkdc_status seal() {
    return s.run({TKDC_OP_SEAL, key, usage::kTicket, {}, some_bytes(40)}).status();
  }
  void allow(bool at0, bool at1, bool at2) {
    allowed[0] = at0;
    allowed[1] = at1;
    allowed[2] = at2;
  }

  std::array<std::atomic<bool>, 3> allowed{};
  ThreeServices s;
  KeyRef key;
};

TEST_F(DroppedKeys, AnswerNothingUntilAllThreeAllowIt) {
  EXPECT_EQ(ask(TKDC_OP_PURGE), TKDC_STATUS_UNKNOWN_KEY) << "it is in use";
  EXPECT_EQ(ask(TKDC_OP_GIVE_BACK), TKDC_STATUS_UNKNOWN_KEY);
  const auto before = s.store(0).get(key.id).value();
  EXPECT_EQ(ask(TKDC_OP_DESTROY), TKDC_STATUS_OK);
  EXPECT_EQ(seal(), TKDC_STATUS_UNKNOWN_KEY);
  EXPECT_EQ(ask(TKDC_OP_DESTROY), TKDC_STATUS_UNKNOWN_KEY);
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(s.store(p).dropped()->dropped_count(), 1u);
    EXPECT_EQ(s.store(p).inventory().value(), s.store(0).inventory().value());
  }
  EXPECT_EQ(ask(TKDC_OP_GIVE_BACK), TKDC_STATUS_DENIED) << "nobody approved it";
  allow(true, true, false);
  EXPECT_NE(ask(TKDC_OP_GIVE_BACK), TKDC_STATUS_OK) << "one server has no approval";
  allow(true, true, true);
  EXPECT_EQ(ask(TKDC_OP_GIVE_BACK, AgentRole::kKdc), TKDC_STATUS_DENIED);
  EXPECT_EQ(ask(TKDC_OP_PURGE, AgentRole::kKdc), TKDC_STATUS_DENIED);
  EXPECT_EQ(seal(), TKDC_STATUS_UNKNOWN_KEY);
  EXPECT_EQ(ask(TKDC_OP_GIVE_BACK), TKDC_STATUS_OK);
  EXPECT_EQ(seal(), TKDC_STATUS_OK);
  EXPECT_EQ(s.store(0).get(key.id).value()->fields.at("key").component[0],
            before->fields.at("key").component[0]);
  // One approval, once.
  EXPECT_EQ(ask(TKDC_OP_DESTROY), TKDC_STATUS_OK);
  EXPECT_EQ(ask(TKDC_OP_GIVE_BACK), TKDC_STATUS_DENIED);
}

TEST_F(DroppedKeys, WhatWasPurgedNeverComesBack) {
  EXPECT_EQ(ask(TKDC_OP_DESTROY), TKDC_STATUS_OK);
  EXPECT_EQ(ask(TKDC_OP_PURGE), TKDC_STATUS_OK);
  allow(true, true, true);
  EXPECT_EQ(ask(TKDC_OP_GIVE_BACK), TKDC_STATUS_UNKNOWN_KEY);
  EXPECT_EQ(ask(TKDC_OP_PURGE), TKDC_STATUS_UNKNOWN_KEY);
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(s.store(p).buried(key.id).value());
    EXPECT_EQ(s.store(p).dropped()->dropped_count(), 0u);
  }
}

// A server that puts the record back by itself serves with nobody: its inventory is its own.
TEST_F(DroppedKeys, OneServerThatTakesAKeyBackHasAnotherInventory) {
  EXPECT_EQ(ask(TKDC_OP_DESTROY), TKDC_STATUS_OK);
  Store& changed = s.store(1);
  ASSERT_TRUE(changed.dropped()->prepare_change(key.id, DroppedChange::kGiveBack).ok());
  ASSERT_TRUE(changed.commit(key.id).ok());
  EXPECT_NE(changed.inventory().value(), s.store(0).inventory().value());
  EXPECT_EQ(seal(), TKDC_STATUS_UNKNOWN_KEY) << "the two others have it not";
}

TEST_F(DroppedKeys, SomeOtherPrincipalsKeyIsUnknown) {
  EXPECT_EQ(ask(TKDC_OP_DESTROY), TKDC_STATUS_OK);
  allow(true, true, true);
  key.principal = digest_of("host/b.test@A.TEST");
  EXPECT_EQ(ask(TKDC_OP_GIVE_BACK), TKDC_STATUS_UNKNOWN_KEY);
  EXPECT_EQ(ask(TKDC_OP_PURGE), TKDC_STATUS_UNKNOWN_KEY);
}

void drop_at_all(ThreeServices& s, const KeyId& id) {
  for (int p = 0; p < 3; ++p) {
    ASSERT_TRUE(s.store(p).dropped()->condemn_to_drop(id, 1'700'000'064).ok());
    ASSERT_TRUE(s.store(p).destroy(id).ok());
  }
}
void give_back_at_all(ThreeServices& s, const KeyId& id) {
  for (int p = 0; p < 3; ++p) {
    ASSERT_TRUE(s.store(p).dropped()->prepare_change(id, DroppedChange::kGiveBack).ok());
    ASSERT_TRUE(s.store(p).commit(id).ok());
  }
}

class DroppedShares : public SharesRepair {};

TEST_F(DroppedShares, AreAuditedAndRepairedAsThoseInUse) {
  start_with_keys();
  ASSERT_NO_FATAL_FAILURE(drop_at_all(*e_, alice_.id));
  inventory_ = e_->store((lost_ + 1) % 3).inventory().value();
  EXPECT_EQ(work(ShareTask::kAudit).audited, 3u);
  begin_repair();
  EXPECT_EQ(ended().trouble, "");
  next_session();
  const Digest inventory = e_->store(0).inventory().value();
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(e_->store(p).inventory().value(), inventory) << p;
    EXPECT_EQ(alice(p), nullptr) << p;
    EXPECT_EQ(e_->store(p).dropped()->dropped_count(), 1u) << p;
  }
  ASSERT_NO_FATAL_FAILURE(give_back_at_all(*e_, alice_.id));
  for (int p = 0; p < 3; ++p) EXPECT_EQ(sum_of(*alice(p), *alice((p + 1) % 3)), secret_) << p;
  EXPECT_NE(alice(0)->version, before_[0]->version) << "it was refreshed";
}

TEST_F(DroppedShares, ASurvivorThatSaysAnotherTimeEndsTheRepair) {
  start_with_keys();
  ASSERT_NO_FATAL_FAILURE(drop_at_all(*e_, alice_.id));
  inventory_ = e_->store((lost_ + 1) % 3).inventory().value();
  for (const std::uint64_t said : {std::uint64_t{0}, std::uint64_t{5}}) {
    tables_[1]->alter = [&](std::vector<StoredKey>& page) {
      for (StoredKey& key : page) {
        auto other = std::make_shared<KeyRecord>(*key.record);
        if (other->dropped_at_s != 0) other->dropped_at_s = said;
        key.record = other;
      }
    };
    EXPECT_NE(try_repair()[2].find("do not have the same"), std::string::npos);
    tables_[1]->alter = nullptr;
    EXPECT_TRUE(e_->store(lost_).repair()->blank());
    EXPECT_EQ(e_->store(0).inventory().value(), inventory_);
  }
}

}  // namespace
}  // namespace tkdc
