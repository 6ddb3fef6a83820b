// SPDX-License-Identifier: Apache-2.0
// A server that has lost its store gets it from the two others, in whole engines: every lie of one
// of them ends it with nothing changed, and so does whatever stops it half way.
#include "refresh_over.h"
#include "service/job/lane_control.h"
#include "shares_repaired.h"

namespace tkdc {
namespace {

TEST_F(SharesRepair, AnEmptyStoreGetsNewSharesOfTheSameKeys) {
  for (lost_ = 0; lost_ < 3; ++lost_) {
    start_with_keys(lost_ == 1 ? Security::kSemiHonest : Security::kMalicious);
    EXPECT_EQ(try_repair(), (std::array<std::string, 3>{}));
    next_session();
    expect_repaired(3);
    const int next = (lost_ + 1) % 3, prev = (lost_ + 2) % 3;
    // It has the components of none of the shares of before; nor does what was stolen with its old
    // disk make a key with what the others have now. The control: with what they had then it does.
    for (int c = 0; c < 2; ++c)
      EXPECT_NE(alice(lost_)->fields.at("key").component[c],
                before_[lost_]->fields.at("key").component[c]);
    EXPECT_EQ(sum_of(*before_[lost_], *before_[next]), secret_);
    EXPECT_NE(sum_of(*before_[lost_], *alice(next)), secret_);
    EXPECT_NE(sum_of(*alice(prev), *before_[lost_]), secret_);
    EXPECT_EQ(e_->store(lost_).repair()->tombstone_count(), 1u);
    EXPECT_EQ(e_->store(lost_).seal_mark(alice_.id).value(),
              5u + static_cast<unsigned>(std::max(prev, next)));
    make_keys(1);
    EXPECT_EQ(work(ShareTask::kAudit, lost_).audited, 4u);
  }
}

// Two full pages of keys and none behind them, and more than a page of tombstones.
TEST_F(SharesRepair, EveryPageIsSent) {
  constexpr std::size_t kKeys = 128, kDestroyed = 4'097;
  start();
  secret_ = some_bytes(32);
  alice_ = e_->make_key("alice@A.TEST", 18, secret_);
  new_session(true, [&](int p) {
    std::vector<Tombstone> destroyed(kDestroyed);
    for (std::size_t k = 0; k < kDestroyed; ++k)
      for (std::size_t at = 0; at < 2; ++at)
        destroyed[k].id[at] = static_cast<std::uint8_t>(k >> (8 * at));
    ASSERT_TRUE(e_->store(p).repair()->add_tombstones(destroyed).ok());
    const auto one = e_->store(p).get(alice_.id).value();
    for (std::size_t k = 1; k < kKeys; ++k) {
      KeyRecord copy = *one;
      copy.ref.id[2] ^= static_cast<std::uint8_t>(k);
      ASSERT_TRUE(e_->store(p).prepare(copy).ok());
      ASSERT_TRUE(e_->store(p).commit(copy.ref.id).ok());
    }
  });
  ASSERT_EQ(work(ShareTask::kDeal).dealt, kKeys);
  EXPECT_EQ(try_repair(), (std::array<std::string, 3>{}));
  EXPECT_EQ(e_->service(2).status().shares.looked_at, kKeys);
  EXPECT_EQ(e_->service(2).status().shares.keys, kKeys);
  next_session();
  EXPECT_EQ(e_->store(2).repair()->tombstone_count(), kDestroyed);
  expect_repaired(kKeys);
}

// ---- one survivor lies

using Alter = std::function<void(StoredKey&)>;

void change(StoredKey& key, const std::function<void(KeyRecord&)>& how) {
  auto record = std::make_shared<KeyRecord>(*key.record);
  how(*record);
  key.record = record;
}

TEST_F(SharesRepair, EachLieOfASurvivorEndsIt) {
  const std::map<std::string, std::pair<Alter, std::string>> lies = {
      {"share",
       {[](StoredKey& key) {
          change(key, [](KeyRecord& r) {
            for (int c = 0; c < 2; ++c) r.fields.at("key").component[c][7] ^= 1;
          });
        },
        "is not what the lost server dealt MACs for"}},
      {"two that cancel without coins",
       {[](StoredKey& key) {
          change(key, [](KeyRecord& r) {
            for (int c = 0; c < 2; ++c)
              for (std::size_t at : {7, 23}) r.fields.at("key").component[c][at] ^= 1;
          });
        },
        "is not what the lost server dealt MACs for"}},
      {"tag",
       {[](StoredKey& key) {
          for (SecretVector& tag : key.macs->tag) tag[3] ^= 1;
        },
        "is not what the lost server dealt MACs for"}},
      {"dealing", {[](StoredKey& key) { ++key.macs->dealing.number; }, "not MACs of the same"}},
      {"MAC key", {[](StoredKey& key) { key.macs->key[0] ^= 1; }, "by tkdc shares deal"}},
      {"version of the row", {[](StoredKey& key) { ++key.macs->version; }, "by tkdc shares deal"}},
      {"no tags", {[](StoredKey& key) { key.macs.reset(); }, "by tkdc shares deal"}},
      {"whose",
       {[](StoredKey& key) { change(key, [](KeyRecord& r) { r.principal_name = "b"; }); },
        "do not have the same records"}},
      {"class",
       {[](StoredKey& key) { change(key, [](KeyRecord& r) { r.key_class = KeyClass::kKrbtgt; }); },
        "do not have the same records"}},
      {"exported",
       {[](StoredKey& key) { change(key, [](KeyRecord& r) { r.exported = true; }); },
        "do not have the same records"}},
      {"version",
       {[](StoredKey& key) {
          change(key, [](KeyRecord& r) { ++r.version; });
          ++key.macs->version;
        },
        "do not have the same records"}},
      {"era",
       {[](StoredKey& key) { change(key, [](KeyRecord& r) { ++r.era; }); },
        "do not have the same records"}},
  };
  start_with_keys();
  for (int liar : {1, 0})
    for (const auto& [name, lie] : lies) {
      tables_[liar]->alter = [&](std::vector<StoredKey>& page) { lie.first(page.back()); };
      const std::array<std::string, 3> why = try_repair();
      tables_[liar]->alter = nullptr;
      std::string all;
      for (const std::string& one : why) {
        EXPECT_NE(one, "") << name;
        all += one + "\n";
      }
      std::erase(all, '`');
      EXPECT_NE(all.find(lie.second), std::string::npos) << name << ": " << all;
      expect_nothing_changed();
    }
  // A record that one of them keeps back, or has too many of.
  tables_[1]->alter = [&](std::vector<StoredKey>& page) { page.pop_back(); };
  EXPECT_NE(try_repair()[2].find("do not have the same"), std::string::npos);
  expect_nothing_changed();
  // The control: without a lie the same stores are good.
  tables_[1]->alter = nullptr;
  EXPECT_EQ(try_repair(), (std::array<std::string, 3>{}));
  next_session();
  expect_repaired(3);
}

// The key by which the other one's word is checked.
TEST_F(SharesRepair, AnotherMacKeyProvesNothing) {
  start_with_keys();
  for (int liar : {0, 1}) {
    const SecretVector kept = tables_[liar]->keys().value();
    SecretVector other = kept;
    // The last 64 octets are what it shares with its neighbours.
    for (std::size_t back : {1u, 33u}) other[other.size() - back] ^= 1;
    ASSERT_TRUE(tables_[liar]->set_keys(other).ok());
    EXPECT_NE(try_repair()[2].find("gave another MAC key"), std::string::npos);
    expect_nothing_changed();
    ASSERT_TRUE(tables_[liar]->set_keys(kept).ok());
  }
  const SecretVector kept = tables_[0]->keys().value();
  tables_[0]->epoch = 7;
  EXPECT_NE(try_repair()[2].find("are of different refreshes"), std::string::npos);
  expect_nothing_changed();
  tables_[0]->epoch.reset();
  ASSERT_TRUE(tables_[0]->set_keys(kept).ok());
  EXPECT_EQ(try_repair(), (std::array<std::string, 3>{})) << "the control";
}

TEST_F(SharesRepair, WithoutMacKeysNobodyCanTell) {
  start_with_keys();
  ASSERT_TRUE(tables_[0]->set_keys({}).ok());
  EXPECT_NE(try_repair()[2].find("keep no MAC key that both have"), std::string::npos);
  expect_nothing_changed();
}

TEST_F(SharesRepair, WhatWasDestroyedIsComparedToo) {
  start_with_keys();
  const Tombstone more{{9}, {}};
  ASSERT_TRUE(e_->store(0).repair()->add_tombstones({&more, 1}).ok());
  EXPECT_NE(try_repair()[2].find("have different numbers"), std::string::npos);
  const Tombstone another{{8}, {}};
  ASSERT_TRUE(e_->store(1).repair()->add_tombstones({&another, 1}).ok());
  EXPECT_NE(try_repair()[2].find("do not have the same"), std::string::npos);
  EXPECT_TRUE(e_->store(2).repair()->blank());
}

// On a disk that is full when the new shares come.
class FullDisk final : public RefreshOver {
 public:
  using RefreshOver::RefreshOver;
  Result<void> add(std::span<const RefreshedKey>) override { return fail("store: full"); }
};

TEST_F(SharesRepair, AFullDiskEndsIt) {
  start_with_keys();
  for (int full : {0, 1}) {
    FullDisk table(*e_->disk(full).refresh());
    e_->disk(full).refresh_over = &table;
    const std::array<std::string, 3> why = try_repair();
    stop();
    e_->disk(full).refresh_over = nullptr;
    EXPECT_EQ(why[static_cast<std::size_t>(full)], "store: full");
    EXPECT_NE(why[2].find("another server could not"), std::string::npos);
    expect_nothing_changed();
  }
  EXPECT_EQ(try_repair(), (std::array<std::string, 3>{}));
}

// No session has begun with the new ones: who was told alone that they are committed needs those of
// before, and the MAC keys to them.
TEST_F(SharesRepair, SharesOfBeforeAreNotDropped) {
  start_with_keys();
  begin_repair();
  ended();
  stop();
  e_->join();
  const SecretVector kept = tables_[1]->keys().value();
  ASSERT_TRUE(e_->store(1).repair()->keeps_former());
  for (const std::string& why : try_repair())
    EXPECT_NE(why.find("`tkdc refresh --undo`"), std::string::npos) << why;
  stop();
  EXPECT_EQ(tables_[1]->keys().value(), kept);
  for (int p : {0, 1}) ASSERT_TRUE(e_->store(p).refresh()->undo_refresh().ok());
  expect_nothing_changed();
  EXPECT_EQ(sum_of(*before_[0], *alice(1)), secret_);
  EXPECT_EQ(try_repair(), (std::array<std::string, 3>{})) << "the control";
}

TEST_F(SharesRepair, OnlyAnEmptyStoreIsFilled) {
  start_with_keys();
  begin_repair(nullptr, false);
  ended();
  for (int p = 0; p < 3; ++p)
    EXPECT_NE(e_->service(p).status().shares.trouble.find("has keys in its store"),
              std::string::npos);
  EXPECT_EQ(sum_of(*alice(2), *alice(0)), secret_);
}

TEST_F(SharesRepair, KeysWithoutMacsAreNotRepaired) {
  start();
  make_keys(2);
  new_session(true);
  make_keys(1);
  const std::array<std::string, 3> why = try_repair();
  for (int p : {0, 1})
    EXPECT_NE(why[static_cast<std::size_t>(p)].find("`tkdc shares deal`"), std::string::npos)
        << why[static_cast<std::size_t>(p)];
  EXPECT_TRUE(e_->store(2).repair()->blank());
}

TEST_F(SharesRepair, NoKeyIsUsedMeanwhile) {
  start_with_keys();
  tables_[0]->alter = [](std::vector<StoredKey>& page) { page[0].macs.reset(); };
  try_repair();
  EXPECT_EQ(e_->run({TKDC_OP_SEAL, alice_, 3, {}, some_bytes(40)}).status(),
            TKDC_STATUS_UNAVAILABLE);
  // Nor is anything else done with shares; and it is not tried again by itself.
  e_->service(0).ask_shares(ShareTask::kDeal);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(e_->service(0).status().shares.wanted);
  EXPECT_EQ(e_->service(0).status().shares.finished, 1u);
}

TEST(SharesInControl, ARepairIsTheOnlyWorkOfItsSession) {
  LaneExpects expected;
  expected.shares = true;
  for (const ShareTask task : {ShareTask::kAudit, ShareTask::kRefresh, ShareTask::kRepair}) {
    LaneControl said;
    said.share_task = task;
    const Bytes octets = encode(said);
    for (const bool repair : {false, true}) {
      expected.repair = repair;
      EXPECT_EQ(decode_lane_control(octets, expected).ok(), repair == (task == ShareTask::kRepair));
    }
  }
}

}  // namespace
}  // namespace tkdc
