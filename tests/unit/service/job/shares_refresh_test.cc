// SPDX-License-Identifier: Apache-2.0
// A refresh in whole engines: new shares of the same keys at all three, or nothing.
#include "refresh_over.h"
#include "shares_at_work.h"

namespace tkdc {
namespace {

using SharesRefresh = Shares;

// A key put together from three components, one from each of these.
Bytes rebuilt(const SharedBytes& x0_x1, const SharedBytes& x1_x2) {
  Bytes out(x0_x1.size());
  for (const SecretVector* component :
       {&x0_x1.component[0], &x0_x1.component[1], &x1_x2.component[1]})
    xor_bytes(out.data(), component->data(), out.size());
  return out;
}

TEST_F(SharesRefresh, ARefreshChangesEverySharesAndNoKey) {
  for (Security security : {Security::kMalicious, Security::kSemiHonest}) {
    start(security);
    made_ = 0;
    const Bytes key = some_bytes(32);
    const KeyRef ref = e_->make_key("alice@A.TEST", 18, key);
    make_keys(3);  // without MACs
    new_session(true);
    make_keys(2);  // with
    std::shared_ptr<const KeyRecord> before[3], after[3];
    for (int p = 0; p < 3; ++p) before[p] = e_->store(p).get(ref.id).value();
    std::vector<Digest> inventories;
    ASSERT_EQ(rebuilt(before[0]->fields.at("key"), before[1]->fields.at("key")), key);

    refresh(1);
    for (int p = 0; p < 3; ++p) {
      after[p] = e_->store(p).get(ref.id).value();
      ASSERT_NE(after[p], nullptr);
      EXPECT_EQ(after[p]->version, before[p]->version + 1);
      EXPECT_EQ(e_->service(p).status().refresh_epoch, 1u);
      inventories.push_back(e_->store(p).inventory().value());
      for (const auto& [name, value] : after[p]->fields)
        for (int c = 0; c < 2; ++c)
          EXPECT_NE(value.component[c], before[p]->fields.at(name).component[c]) << name;
    }
    EXPECT_EQ(inventories[0], inventories[1]);
    EXPECT_EQ(inventories[0], inventories[2]);
    for (const auto& [name, value] : after[0]->fields) {
      const Bytes old = rebuilt(before[0]->fields.at(name), before[1]->fields.at(name));
      EXPECT_EQ(rebuilt(value, after[1]->fields.at(name)), old) << name;
      // Server 0's disk of before and server 1's of now: no key. The control is above.
      EXPECT_NE(rebuilt(before[0]->fields.at(name), after[1]->fields.at(name)), old) << name;
      EXPECT_NE(rebuilt(value, before[1]->fields.at(name)), old) << name;
    }
    // The new ones have MACs, under a key of their own, and serve.
    EXPECT_EQ(work(ShareTask::kAudit).audited, 6u);
    make_keys(1);
    EXPECT_EQ(work(ShareTask::kAudit, 2).audited, 7u);
    refresh(0);
    EXPECT_EQ(work(ShareTask::kAudit).audited, 7u);
    for (int p = 0; p < 3; ++p) EXPECT_EQ(e_->service(p).status().refresh_epoch, 2u);
    expect_alarms(0, {});
  }
}

// On a disk that takes no commit.
class NoCommit final : public RefreshOver {
 public:
  using RefreshOver::RefreshOver;
  Result<void> commit_refresh() override { return fail("store: no commit"); }
};

// A key that this session still made would be lost with the shares of before.
TEST_F(SharesRefresh, ASessionEndsWhereOneServerCannotCommit) {
  start();
  new_session(true);
  make_keys(2);
  NoCommit table(*e_->disk(2).refresh());
  e_->disk(2).refresh_over = &table;
  const EntryId entry = table.entry();
  EXPECT_NE(try_refresh(0).trouble, "");
  bool up = true;
  for (int waited = 0; up && waited < 500; ++waited) {
    up = e_->service(0).status().session_up;
    if (up) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_FALSE(up);
  e_->join();
  e_->all_end = false;
  // As the handshake settles it: the two others have committed.
  e_->disk(2).refresh_over = nullptr;
  EXPECT_EQ(e_->store(2).prepared().value(), std::vector<KeyId>{entry});
  ASSERT_TRUE(e_->store(2).commit(entry).ok());
  e_->start_session(nullptr);
  make_keys(1);
  EXPECT_EQ(work(ShareTask::kAudit).audited, 3u);
  for (int p = 0; p < 3; ++p) EXPECT_EQ(e_->service(p).status().refresh_epoch, 1u);
}

// Where one has no room, none keeps what it has made, and the session goes on.
class NoRoom final : public RefreshOver {
 public:
  using RefreshOver::RefreshOver;
  Result<void> add(std::span<const RefreshedKey> keys) override {
    return full ? fail("store: no room") : RefreshOver::add(keys);
  }
  void give_up() override {
    ++given_up;
    RefreshOver::give_up();
  }
  bool full = false;
  std::atomic<int> given_up{0};
};

TEST_F(SharesRefresh, WhatItMadeIsGivenUpWhereOneHasNoRoom) {
  start();
  new_session(true);
  make_keys(3);
  std::vector<std::unique_ptr<NoRoom>> tables;
  for (int p = 0; p < 3; ++p) {
    tables.push_back(std::make_unique<NoRoom>(*e_->disk(p).refresh()));
    e_->disk(p).refresh_over = tables.back().get();
  }
  tables[1]->full = true;
  EXPECT_NE(try_refresh(0).trouble, "");
  e_->all_end = false;
  for (int p = 0; p < 3; ++p) EXPECT_EQ(tables[static_cast<std::size_t>(p)]->given_up, 1) << p;
  make_keys(1);
  tables[1]->full = false;
  refresh(0);
  for (int p = 0; p < 3; ++p) EXPECT_EQ(tables[static_cast<std::size_t>(p)]->given_up, 1) << p;
  EXPECT_EQ(work(ShareTask::kAudit).audited, 4u);
  e_.reset();
}

class CountsTidying final : public RefreshOver {
 public:
  using RefreshOver::RefreshOver;
  Result<void> tidy() override {
    ++tidied;
    return RefreshOver::tidy();
  }
  std::atomic<int> tidied{0};
};

// It would put them under the key of the present epoch.
TEST_F(SharesRefresh, NothingIsTidiedBeforeFormerMacKeysAreForgotten) {
  start();
  new_session(true);
  CountsTidying table(*e_->disk(0).refresh());
  e_->disk(0).refresh_over = &table;
  tables_[0]->fails_keys_once = true;
  new_session(true);
  const auto wait_for = [](const auto& is) {
    for (int waited = 0; !is() && waited < 3'000; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(is());
  };
  ASSERT_NO_FATAL_FAILURE(wait_for([&] { return !tables_[0]->fails_keys_once; }));
  ASSERT_NO_FATAL_FAILURE(wait_for([&] { return e_->service(0).status().session_up; }));
  e_->service(0).expire();
  EXPECT_EQ(table.tidied, 0);
  new_session(true);
  ASSERT_NO_FATAL_FAILURE(wait_for([&] {
    e_->service(0).expire();
    return table.tidied > 0;
  }));
  e_.reset();
}

// Its lanes may tick once more, and in that tick another server wants something else.
TEST(ShareUpkeep, ARefreshThatWasCommittedLetsNoKeyBeMadeUntilTheSessionEnds) {
  ShareUpkeep upkeep;
  upkeep.session(true, 0);
  upkeep.heard(ShareTask::kRefresh);
  upkeep.begun(ShareTask::kRefresh, 0);
  upkeep.ended("", true);
  for (ShareTask next : {ShareTask::kAudit, ShareTask::kDeal, ShareTask::kRefresh}) {
    upkeep.heard(next);
    EXPECT_TRUE(upkeep.refreshing());
    upkeep.begun(next, 0);
    upkeep.ended("");
    EXPECT_TRUE(upkeep.refreshing());
  }
  upkeep.session(true, 1);
  EXPECT_FALSE(upkeep.refreshing());
  // One that came to nothing is over with itself.
  upkeep.heard(ShareTask::kRefresh);
  upkeep.begun(ShareTask::kRefresh, 0);
  EXPECT_TRUE(upkeep.refreshing());
  upkeep.ended("no room");
  EXPECT_FALSE(upkeep.refreshing());
}

// What it would spread is found before.
TEST_F(SharesRefresh, ARefreshStopsAtAShareThatDiffers) {
  start();
  new_session(true);
  const std::vector<KeyRef> keys = make_keys(3);
  tables_[2]->alter = [](std::vector<StoredKey>& page) {
    auto changed = std::make_shared<KeyRecord>(*page[1].record);
    changed->fields.at("key").component[1][0] ^= 1;
    page[1].record = changed;
  };
  EXPECT_NE(try_refresh(0).trouble, "");
  e_->all_end = false;
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(e_->service(p).status().refresh_epoch, 0u);
    EXPECT_EQ(e_->store(p).get(keys[0].id).value()->version, 1u);
  }
  // Keys can be made again, and it is done when what differed is mended.
  make_keys(1);
  tables_[2]->alter = nullptr;
  refresh(0);
  EXPECT_EQ(work(ShareTask::kAudit).audited, 4u);
}

// A server that adds another delta than the others: its new share is none of the key's. The keys
// have no MACs of before, so nothing else finds it.
TEST_F(SharesRefresh, AWrongDeltaEndsIt) {
  start();
  const std::vector<KeyRef> keys = make_keys(3);
  new_session(true);
  for (int place = 0; place < 2; ++place) {
    tables_[1]->alter = [place](std::vector<StoredKey>& page) {
      auto changed = std::make_shared<KeyRecord>(*page[2].record);
      changed->fields.at("key").component[place][31] ^= 0x80;
      page[2].record = changed;
    };
    EXPECT_EQ(try_refresh(place).trouble, "new shares differ: nothing was refreshed");
    e_->all_end = false;
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(e_->service(p).status().refresh_epoch, 0u);
      EXPECT_EQ(e_->store(p).get(keys[0].id).value()->version, 1u);
      EXPECT_NE(e_->service(p).status().share_alarms_named.back().find("differ about"),
                std::string::npos);
    }
  }
  tables_[1]->alter = nullptr;
  refresh(2);
  EXPECT_EQ(work(ShareTask::kAudit).audited, 3u);
}

}  // namespace
}  // namespace tkdc
