// SPDX-License-Identifier: Apache-2.0
// A server that has lost its store gets it from the two others, in whole engines: every lie of one
// of them ends it with nothing changed, and so does whatever stops it half way.
#include "service/job/lane_control.h"
#include "service/lifecycle/repair_page.h"
#include "service/store/refresh_table.h"
#include "service/store/repair_table.h"
#include "shares_at_work.h"

namespace tkdc {
namespace {

class SharesRepair : public Shares {
 protected:
  void start_with_keys(Security security = Security::kMalicious) {
    start(security);
    new_session(true);
    made_ = 0;
    secret_ = some_bytes(32);
    alice_ = e_->make_key("alice@A.TEST", 18, secret_);
    const std::vector<KeyRef> others = make_keys(3);
    EXPECT_EQ(e_->run({TKDC_OP_DESTROY, others[1], 0, {}, {}, AgentRole::kAdmin}).status(),
              TKDC_STATUS_OK);
    for (int p = 0; p < 3; ++p) {
      EXPECT_TRUE(e_->store(p).set_seal_mark(alice_.id, 5u + static_cast<unsigned>(p)).ok());
      before_[p] = e_->store(p).get(alice_.id).value();
    }
    inventory_ = e_->store((lost_ + 1) % 3).inventory().value();
  }
  // Its session begins with an empty store in that server's place.
  void begin_repair(const std::shared_ptr<MemoryRing>& ring = nullptr, bool lose = true) {
    stop();
    e_->all_end = true;
    e_->session_edit = [this](int, Session& session) {
      session.share_macs = true;
      session.repaired = lost_;
    };
    e_->ring_of_next_session(ring);
    e_->restart(++epoch_, [&](int p) {
      if (p != lost_ || !lose) return;
      e_->lose_store(p);
      tables_[p] = std::make_unique<AlteredTable>(*e_->disk(p).macs());
      e_->disk(p).macs_over = tables_[p].get();
    });
    for (std::uint64_t& one : finished_) one = 0;
  }
  // One that ends by itself waits for the others; one that is stopped does not.
  void stop() {
    e_->all_end = false;
    e_->close_links("the test goes on");
    e_->join();
    e_->stop_session();
    e_->ring_of_next_session(nullptr);
  }
  void TearDown() override {
    if (e_) stop();
  }
  // Why it ended, at all three.
  std::array<std::string, 3> try_repair() {
    begin_repair();
    ended();
    std::array<std::string, 3> out;
    for (int p = 0; p < 3; ++p)
      out[static_cast<std::size_t>(p)] = e_->service(p).status().shares.trouble;
    return out;
  }
  // As the next handshake settles it.
  void settle() {
    for (int p = 0; p < 3; ++p) {
      const std::vector<KeyId> prepared = e_->store(p).prepared().value();
      for (const KeyId& id : prepared) {
        const bool done = e_->store((p + 1) % 3).committed(id).value() ||
                          e_->store((p + 2) % 3).committed(id).value();
        ASSERT_TRUE((done ? e_->store(p).commit(id) : e_->store(p).abandon(id)).ok());
      }
    }
  }
  void next_session() {
    e_->join();
    e_->all_end = false;
    new_session(true);
  }
  static Bytes sum_of(const KeyRecord& x0_x1, const KeyRecord& x1_x2) {
    const SharedBytes &a = x0_x1.fields.at("key"), &b = x1_x2.fields.at("key");
    Bytes out(a.size());
    for (const SecretVector* component : {&a.component[0], &a.component[1], &b.component[1]})
      xor_bytes(out.data(), component->data(), out.size());
    return out;
  }
  std::shared_ptr<const KeyRecord> alice(int p) { return e_->store(p).get(alice_.id).value(); }
  void expect_repaired(std::uint64_t keys) {
    const Digest inventory = e_->store(0).inventory().value();
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(e_->service(p).status().refresh_epoch, 1u);
      EXPECT_EQ(e_->store(p).inventory().value(), inventory);
      ASSERT_NE(alice(p), nullptr);
    }
    for (int p = 0; p < 3; ++p) EXPECT_EQ(sum_of(*alice(p), *alice((p + 1) % 3)), secret_) << p;
    EXPECT_EQ(work(ShareTask::kAudit).audited, keys);
    expect_alarms(0, {});
  }
  void expect_nothing_changed() {
    EXPECT_EQ(e_->store(lost_).count(), 0u);
    EXPECT_TRUE(e_->store(lost_).repair()->blank());
    for (int p = 0; p < 3; ++p) {
      if (p == lost_) continue;
      EXPECT_EQ(e_->store(p).refresh()->state().epoch, 0u);
      EXPECT_EQ(e_->store(p).inventory().value(), inventory_);
      EXPECT_EQ(alice(p)->version, before_[p]->version);
    }
  }

  int lost_ = 2;
  Bytes secret_;
  KeyRef alice_;
  Digest inventory_{};
  std::shared_ptr<const KeyRecord> before_[3];
};

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
class FullDisk final : public RefreshTable {
 public:
  explicit FullDisk(RefreshTable& table) : table_(table) {}
  RefreshState state() override { return table_.state(); }
  Result<void> begin() override { return table_.begin(); }
  Result<void> add(std::span<const RefreshedKey>) override { return fail("store: full"); }
  Result<void> prepare_refresh(std::uint64_t at_s) override { return table_.prepare_refresh(at_s); }
  Result<void> commit_refresh() override { return table_.commit_refresh(); }
  Result<void> abandon_refresh() override { return table_.abandon_refresh(); }
  EntryId entry() override { return table_.entry(); }
  void switch_over() override { table_.switch_over(); }
  Result<void> begun_with() override { return table_.begun_with(); }
  Result<void> tidy() override { return table_.tidy(); }
  Result<void> undo_refresh() override { return table_.undo_refresh(); }

 private:
  RefreshTable& table_;
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

// What a survivor sends is read as a whole or not at all, whatever it has in it.
TEST_F(SharesRepair, APageThatIsDamagedIsRefused) {
  start_with_keys();
  const std::vector<StoredKey> keys = e_->store(0).macs()->page(std::nullopt, 3).value();
  SecretVector page;
  for (const StoredKey& key : keys)
    put_repair_half(page, key, repair_said(*key.record, *key.macs), 1, 7);
  const auto get = [&](const SecretVector& octets, std::size_t count) {
    return get_repair_halves(octets, count, kInstallation);
  };
  const auto halves = get(page, 3);
  ASSERT_TRUE(halves);
  EXPECT_EQ((*halves)[2].seal_mark, 7u);
  const auto whole = join_halves((*halves)[1], (*halves)[1]);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->fields.at("key").component[0], keys[1].record->fields.at("key").component[1]);
  EXPECT_FALSE(join_halves((*halves)[0], (*halves)[1]));
  for (std::size_t bytes = 0; bytes < page.size(); bytes += 1 + bytes / 64)
    EXPECT_FALSE(get(SecretVector(page.begin(), page.begin() + static_cast<long>(bytes)), 3));
  SecretVector longer = page;
  longer.push_back(0);
  EXPECT_FALSE(get(longer, 3));
  for (std::size_t count : {0u, 2u, 4u}) EXPECT_FALSE(get(page, count));
  EXPECT_FALSE(get_repair_halves(page, 3, InstallationId{1}));
  // Lengths that promise more than there is make no room.
  for (std::size_t at = 0; at < 600; ++at)
    for (const std::uint8_t octet : {0x7f, 0xff}) {
      SecretVector changed = page;
      changed[at] = octet;
      if (auto got = get(changed, 3)) {
        EXPECT_LE((*got)[0].component.size(), page.size());
      }
    }
  SecretVector twice(page.begin(), page.end());
  twice.insert(twice.end(), page.begin(), page.end());
  EXPECT_FALSE(get(twice, 6)) << "ids ascend";
}

// ---- on the wire, and a crash

// Changes an octet of one packet, or ends the session with it.
class RepairRing final : public MemoryRing {
 public:
  RepairRing(int from, int packet, std::size_t octet, bool cuts)
      : from_(from), packet_(packet), octet_(octet), cuts_(cuts) {}
  std::atomic<bool> done{false};

 protected:
  void carry(int from, Neighbour to, SecretVector sent) override {
    constexpr std::size_t kNumber = 4;
    if (from == from_ && sent.size() > kNumber && sent_++ == packet_) {
      done = true;
      if (cuts_) return close("a server was killed");
      sent[kNumber + octet_ % (sent.size() - kNumber)] ^= 0x10;
    }
    deliver(from, to, std::move(sent));
  }

 private:
  const int from_, packet_;
  const std::size_t octet_;
  const bool cuts_;
  std::atomic<int> sent_{0};
};

TEST_F(SharesRepair, AChangedOctetOfAnyMessageLeavesTheKeyOrNothing) {
  start_with_keys();
  int changed = 0;
  for (int trial = 0; trial < 45; ++trial) {
    auto ring = std::make_shared<RepairRing>(trial % 3, trial / 3 * 2 + trial % 2,
                                             static_cast<std::size_t>(trial) * 7919, false);
    begin_repair(ring);
    for (int waited = 0; waited < 2'000; ++waited) {
      int over = 0;
      for (int p = 0; p < 3; ++p) {
        const JobServiceStatus now = e_->service(p).status();
        over += now.shares.finished > 0 || !now.session_up;
      }
      if (over == 3 && e_->service(0).status().rounds > 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    changed += ring->done ? 1 : 0;
    ring->close("the liar is gone");
    stop();
    e_->join();
    settle();
    if (e_->store(0).refresh()->state().epoch > 0) {
      // What was changed was of no account, or came behind the commit.
      for (int p = 0; p < 3; ++p)
        ASSERT_EQ(sum_of(*alice(p), *alice((p + 1) % 3)), secret_) << trial;
      start_with_keys();
      continue;
    }
    expect_nothing_changed();
  }
  EXPECT_GT(changed, 30);
  EXPECT_EQ(try_repair(), (std::array<std::string, 3>{}));
  next_session();
  expect_repaired(3);
}

// Killed with each packet of each server: begun anew, or taken up where it was.
TEST_F(SharesRepair, WhereverItIsKilledItIsDoneInTheEnd) {
  start_with_keys();
  int cuts = 0, committed = 0;
  for (int packet = 0; packet < 200; ++packet) {
    auto ring = std::make_shared<RepairRing>(packet % 3, packet, 0, true);
    begin_repair(ring, cuts == 0);
    for (int waited = 0; !ring->done && waited < 2'000; ++waited) {
      if (!e_->service(0).status().session_up && e_->service(0).status().shares.finished > 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    cuts += ring->done ? 1 : 0;
    ring->close("over");
    stop();
    e_->join();
    settle();
    if (e_->store(0).refresh()->state().epoch == 0) {
      expect_nothing_changed();
      continue;
    }
    ++committed;
    break;
  }
  EXPECT_GT(cuts, 20);
  EXPECT_EQ(committed, 1);
  next_session();
  expect_repaired(3);
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
