// SPDX-License-Identifier: Apache-2.0
// MACs on shares in whole engines: dealt when a key is bound, audited over the whole store, dealt
// to a store of before; and what an audit says of a server that holds something else.
#include "service/job/lane_control.h"
#include "service/job/share_upkeep.h"
#include "service/lifecycle/mac_keyring.h"
#include "service/lifecycle/share_alarm.h"
#include "shares_at_work.h"

namespace tkdc {
namespace {

TEST_F(Shares, AKeyHasMacsFromTheMomentItIsBound) {
  for (Security security : {Security::kMalicious, Security::kSemiHonest}) {
    start(security);
    new_session(true);
    make_keys(3);
    for (int p = 0; p < 3; ++p) EXPECT_EQ(tables_[p]->rows(), 3u);
    const ShareUpkeepStatus audited = work(ShareTask::kAudit, 1);
    EXPECT_EQ(audited.trouble, "");
    EXPECT_EQ(audited.audited, 3u);
    EXPECT_EQ(audited.looked_at, 3u);
    EXPECT_EQ(audited.without, 0u);
    EXPECT_EQ(audited.failed, 0u);
    expect_alarms(0, {});
    made_ = 0;
  }
}

TEST_F(Shares, MacsOutliveSessionsAndGoWithTheirKeys) {
  start();
  new_session(true);
  const std::vector<KeyRef> keys = make_keys(2);
  new_session(true);
  EXPECT_EQ(work(ShareTask::kAudit).audited, 2u);
  EXPECT_EQ(e_->run({TKDC_OP_DESTROY, keys[0], 0, {}, {}, AgentRole::kAdmin}).status(),
            TKDC_STATUS_OK);
  for (int p = 0; p < 3; ++p) EXPECT_EQ(tables_[p]->rows(), 1u);
  EXPECT_EQ(work(ShareTask::kAudit, 2).audited, 1u);
  expect_alarms(0, {});
}

TEST_F(Shares, AStoreOfBeforeIsDealtMacsOnce) {
  start();
  make_keys(5);
  EXPECT_FALSE(e_->service(0).status().shares.possible);
  for (int p = 0; p < 3; ++p) EXPECT_EQ(tables_[p]->rows(), 0u);
  new_session(true);
  ShareUpkeepStatus done = work(ShareTask::kAudit);
  EXPECT_EQ(done.without, 5u);
  EXPECT_EQ(done.audited, 0u);
  done = work(ShareTask::kDeal);
  EXPECT_EQ(done.dealt, 5u);
  EXPECT_EQ(done.audited, 5u);
  for (int p = 0; p < 3; ++p) EXPECT_EQ(tables_[p]->rows(), 5u);
  done = work(ShareTask::kDeal);
  EXPECT_EQ(done.dealt, 0u);
  EXPECT_EQ(work(ShareTask::kAudit).audited, 5u);
  expect_alarms(0, {});
}

// CPU seconds of all three servers so far.
double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// More than a page, so that places of pages are passed on rightly. TKDC_TEST_KEYS=N: of so many
// keys, and says what they take.
TEST_F(Shares, EveryPageIsLookedAt) {
  const char* wanted = std::getenv("TKDC_TEST_KEYS");
  const std::size_t keys = wanted != nullptr ? std::stoul(wanted) : 600;
  start();
  const KeyRef first = make_keys(1)[0];
  // The same shares under other ids at all three.
  new_session(true, [&](int p) {
    auto one = e_->store(p).get(first.id);
    ASSERT_TRUE(one.ok());
    for (std::size_t k = 1; k < keys; ++k) {
      KeyRecord copy = **one;
      copy.ref.id[0] = static_cast<std::uint8_t>(k);
      copy.ref.id[1] = static_cast<std::uint8_t>(k >> 8);
      copy.ref.id[2] = static_cast<std::uint8_t>(k >> 16);
      ASSERT_TRUE(e_->store(p).prepare(copy).ok());
      ASSERT_TRUE(e_->store(p).commit(copy.ref.id).ok());
    }
  });
  for (const ShareTask task : {ShareTask::kDeal, ShareTask::kAudit}) {
    const double before = cpu_s();
    const ShareUpkeepStatus done = work(task);
    EXPECT_EQ(done.looked_at, keys);
    EXPECT_EQ(task == ShareTask::kDeal ? done.dealt : done.audited, keys);
    if (wanted != nullptr)
      std::cout << (task == ShareTask::kDeal ? "deal " : "audit ") << done.seconds << " s, "
                << 1e6 * (cpu_s() - before) / static_cast<double>(keys)
                << " us of CPU a key at all three servers\n";
  }
}

// One record of many has a bit that is off, at one server.
TEST_F(Shares, AnAuditNamesTheRecordAndTheTwoServers) {
  start();
  new_session(true);
  const std::vector<KeyRef> keys = make_keys(9);
  const KeyId odd = keys[4].id;
  tables_[1]->alter = [&](std::vector<StoredKey>& page) {
    for (StoredKey& one : page) {
      if (one.record->ref.id != odd) continue;
      auto changed = std::make_shared<KeyRecord>(*one.record);
      changed->fields.at("key").component[0][5] ^= 1;
      one.record = changed;
    }
  };
  const ShareUpkeepStatus done = work(ShareTask::kAudit);
  EXPECT_EQ(done.failed, 1u);
  EXPECT_EQ(done.audited, 9u);
  // Component 1 is held by servers 0 and 1, and lacked by server 2.
  expect_alarms(1, {"user5@A.TEST", "servers 1 and 0 differ", "server 2 lacks"});
}

TEST_F(Shares, AServerThatReturnsAnOldStateIsNamed) {
  start();
  make_keys(2);
  new_session(true);
  ASSERT_EQ(work(ShareTask::kDeal).dealt, 2u);
  auto before = tables_[2]->page(std::nullopt, 10);
  ASSERT_TRUE(before.ok());
  // Dealt anew, since one server has lost its own.
  tables_[0]->alter = [](std::vector<StoredKey>& page) {
    for (StoredKey& one : page) one.macs.reset();
  };
  ASSERT_EQ(work(ShareTask::kDeal).dealt, 2u);
  tables_[0]->alter = nullptr;
  tables_[2]->alter = [&](std::vector<StoredKey>& page) { page = *before; };
  const ShareUpkeepStatus done = work(ShareTask::kAudit);
  EXPECT_EQ(done.audited, 0u);
  EXPECT_EQ(done.failed, 2u);
  expect_alarms(2, {"server 2 and the two others", "different dealings"});
  // The control: without the old state all is well.
  tables_[2]->alter = nullptr;
  EXPECT_EQ(work(ShareTask::kAudit).failed, 0u);
}

// It claims the new dealing for the old tags: then they do not prove anything.
TEST_F(Shares, OldTagsUnderANewNameFail) {
  start();
  make_keys(1);
  new_session(true);
  ASSERT_EQ(work(ShareTask::kDeal).dealt, 1u);
  auto before = tables_[2]->page(std::nullopt, 10);
  ASSERT_TRUE(before.ok());
  tables_[0]->alter = [](std::vector<StoredKey>& page) { page[0].macs.reset(); };
  ASSERT_EQ(work(ShareTask::kDeal).dealt, 1u);
  tables_[0]->alter = nullptr;
  tables_[2]->alter = [&](std::vector<StoredKey>& page) {
    for (int c = 0; c < 2; ++c) page[0].macs->tag[c] = (*before)[0].macs->tag[c];
  };
  EXPECT_EQ(work(ShareTask::kAudit).failed, 1u);
}

TEST_F(Shares, RecordsThatAreSwappedFail) {
  start();
  new_session(true);
  make_keys(3);
  tables_[0]->alter = [](std::vector<StoredKey>& page) {
    std::swap(page[0].macs->tag, page[2].macs->tag);
  };
  EXPECT_EQ(work(ShareTask::kAudit).failed, 2u);
}

// Two administrators at once: what either asked for is done, one after the other.
TEST_F(Shares, TwoWishesAtOnceAreBothDone) {
  ShareUpkeep upkeep;
  upkeep.session(true, 0);
  upkeep.want(ShareTask::kDeal, 0);
  upkeep.begun(ShareTask::kAudit, 1);
  upkeep.ended("");
  EXPECT_EQ(upkeep.wanted(), ShareTask::kDeal) << "another's work is not this server's";
  EXPECT_TRUE(upkeep.status().wanted);
  upkeep.begun(ShareTask::kDeal, 1);
  upkeep.ended("");
  EXPECT_FALSE(upkeep.wanted() || upkeep.status().wanted);

  start();
  make_keys(2);
  new_session(true);
  e_->service(1).ask_shares(ShareTask::kDeal);
  e_->service(0).ask_shares(ShareTask::kAudit);
  for (int p = 0; p < 3; ++p) {
    for (int waited = 0; e_->service(p).status().shares.finished < 2 && waited < 3'000; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(e_->service(p).status().shares.finished, 2u) << p;
    EXPECT_EQ(tables_[p]->rows(), 2u) << p;
  }
}

// A lane that has no such work takes no word of it, nor a word of none.
TEST(SharesInControl, AreSaidWhereTheSessionHasThem) {
  LaneControl said;
  said.share_task = ShareTask::kDeal;
  Bytes octets = encode(said);
  LaneExpects expected;
  EXPECT_FALSE(decode_lane_control(octets, expected).ok());
  expected.shares = true;
  auto heard = decode_lane_control(octets, expected);
  ASSERT_TRUE(heard.ok());
  EXPECT_EQ(heard->share_task, ShareTask::kDeal);
  for (std::uint8_t task : {0, 4, 255}) {
    octets.back() = task;
    EXPECT_FALSE(decode_lane_control(octets, expected).ok()) << int{task};
  }
  octets.pop_back();
  EXPECT_FALSE(decode_lane_control(octets, expected).ok());
}

TEST_F(Shares, AStoreThatHasOtherRecordsEndsTheAudit) {
  start();
  new_session(true);
  make_keys(2);
  tables_[1]->alter = [](std::vector<StoredKey>& page) { page.pop_back(); };
  const ShareUpkeepStatus done = work(ShareTask::kAudit);
  EXPECT_NE(done.trouble.find("server 1"), std::string::npos) << done.trouble;
  expect_alarms(1, {"server 1 has other records"});
}

// A dealer and a verifier whose keys differ, as when one dealt wrongly: nothing is stored.
TEST_F(Shares, AKeyWhoseMacsFailIsNotBound) {
  start();
  new_session(true);
  make_keys(1);
  new_session(true, [&](int p) {
    if (p != 1) return;
    auto keys = tables_[p]->keys();
    ASSERT_TRUE(keys.ok());
    keys->back() ^= 1;  // what it shares with server 2
    ASSERT_TRUE(tables_[p]->set_keys(*keys).ok());
  });
  KeyRef ref = e_->stage(18, some_bytes(32));
  ref.principal = digest_of("bob@A.TEST");
  EXPECT_EQ(e_->run(ThreeServices::bind_job(ref, "bob@A.TEST")).status(), TKDC_STATUS_INTERNAL);
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(tables_[p]->rows(), 1u);
    EXPECT_FALSE(e_->store(p).committed(ref.id).value());
  }
  expect_alarms(1, {"bob@A.TEST", "servers 0 and"});
}

// Who has lost its MAC keys brings all three to new ones; what was dealt under the old is dealt
// again when somebody asks.
TEST_F(Shares, LostMacKeysAreMadeAnew) {
  start();
  new_session(true);
  make_keys(2);
  new_session(true, [&](int p) {
    if (p == 2) {
      ASSERT_TRUE(tables_[p]->set_keys({}).ok());
    }
  });
  ShareUpkeepStatus done = work(ShareTask::kAudit);
  EXPECT_EQ(done.without, 2u);
  EXPECT_EQ(done.stale, 2u);
  EXPECT_EQ(done.failed, 0u);
  // Never silently: else a server that says so makes audits say nothing.
  for (int p = 0; p < 3; ++p) {
    const auto named = e_->service(p).status().share_alarms_named;
    ASSERT_EQ(named.size(), p == 2 ? 1u : 2u) << p;
    if (p != 2) {
      EXPECT_NE(named[0].find("server 2 keeps no MAC key"), std::string::npos) << named[0];
    }
    EXPECT_NE(named.back().find("2 keys have MACs here"), std::string::npos) << named.back();
  }
  EXPECT_EQ(work(ShareTask::kDeal).dealt, 2u);
  EXPECT_EQ(work(ShareTask::kAudit).audited, 2u);
}

// No session is over because a disk failed once: who needs the key next has all three try again.
// The two that have kept it meanwhile accuse nobody of having lost it.
TEST_F(Shares, AMacKeyThatADiskDidNotTakeIsTriedAgain) {
  start();
  tables_[1]->refuses_keys = true;
  new_session(true);
  EXPECT_NE(work(ShareTask::kAudit).trouble.find("another server could not store its own"),
            std::string::npos);
  tables_[1]->refuses_keys = false;
  make_keys(2);
  const ShareUpkeepStatus done = work(ShareTask::kAudit);
  EXPECT_EQ(done.trouble, "");
  EXPECT_EQ(done.audited, 2u);
  expect_alarms(0, {});
}

// A server that says in each session that it has no key must not push out the one that proves
// something.
TEST_F(Shares, AKeyringThatIsFullKeepsWhatItHas) {
  start();
  new_session(true);
  make_keys(1);
  SecretVector proving[3];
  for (int p = 0; p < 3; ++p) proving[p] = *tables_[p]->keys();
  for (std::size_t k = 1; k <= MacKeyring::kMostKeys; ++k) {
    new_session(true, [&](int p) {
      if (p == 2) {
        ASSERT_TRUE(tables_[p]->set_keys({}).ok());
      }
    });
    const ShareUpkeepStatus done = work(ShareTask::kAudit);
    EXPECT_EQ(done.trouble.empty(), k < MacKeyring::kMostKeys) << k << done.trouble;
  }
  EXPECT_NE(e_->service(0).status().shares.trouble.find("MAC keys are kept"), std::string::npos);
  // Server 2 finds its own again, and the two others have kept theirs.
  new_session(true, [&](int p) {
    if (p == 2) {
      ASSERT_TRUE(tables_[p]->set_keys(proving[p]).ok());
    }
  });
  EXPECT_EQ(work(ShareTask::kAudit).audited, 1u);
}

// Once all have MACs under one key the others are gone: a disk that is stolen later has none.
TEST_F(Shares, DealingForgetsOtherMacKeys) {
  start();
  new_session(true);
  make_keys(2);
  const std::size_t of_one = tables_[0]->keys()->size();
  new_session(true, [&](int p) {
    if (p == 1) {
      ASSERT_TRUE(tables_[p]->set_keys({}).ok());
    }
  });
  work(ShareTask::kAudit);
  EXPECT_GT(tables_[0]->keys()->size(), of_one);
  // Not while a record has none under it.
  tables_[1]->alter = [](std::vector<StoredKey>& page) {
    auto changed = std::make_shared<KeyRecord>(*page[1].record);
    changed->fields.at("key").component[1][0] ^= 1;
    page[1].record = changed;
  };
  EXPECT_EQ(work(ShareTask::kDeal).failed, 1u);
  EXPECT_GT(tables_[0]->keys()->size(), of_one);
  tables_[1]->alter = nullptr;
  EXPECT_EQ(work(ShareTask::kDeal).dealt, 1u);
  for (int p = 0; p < 3; ++p) EXPECT_EQ(tables_[p]->keys()->size(), of_one) << p;
  EXPECT_EQ(work(ShareTask::kAudit).audited, 2u);
}

// A row that does not decrypt is none, said by the server that has it, and mended when asked.
TEST_F(Shares, MacsThatCannotBeReadAreDealtAnew) {
  start();
  new_session(true);
  make_keys(2);
  tables_[1]->alter = [](std::vector<StoredKey>& page) {
    page[0].macs.reset();
    page[0].unreadable = true;
  };
  EXPECT_EQ(work(ShareTask::kAudit).failed, 1u);
  const auto named = e_->service(1).status().share_alarms_named;
  ASSERT_EQ(named.size(), 2u);
  EXPECT_NE((named[0] + named[1]).find("cannot read its MACs"), std::string::npos);
  EXPECT_EQ(work(ShareTask::kDeal).dealt, 1u);
  tables_[1]->alter = nullptr;
  EXPECT_EQ(work(ShareTask::kAudit).audited, 2u);
}

// A server that lies about each record does not fill the others' logs.
TEST(ShareAlarms, AreToldSoOftenAndCountedOn) {
  std::size_t told = 0;
  ShareAlarm alarm([&](const std::string&, const KeyRecord*) { ++told; });
  for (int k = 0; k < 1000; ++k) alarm.raise("audit of shares: key " + std::to_string(k), nullptr);
  EXPECT_EQ(told, ShareAlarm::kMostNamed + 1);
  EXPECT_EQ(alarm.named().size(), ShareAlarm::kMostNamed);
  EXPECT_EQ(alarm.count(), 1000u);
}

TEST_F(Shares, AFullDiskEndsTheWorkAndItGoesOnLater) {
  start();
  make_keys(3);
  new_session(true);
  tables_[1]->full = true;
  EXPECT_NE(work(ShareTask::kDeal).trouble, "");
  EXPECT_EQ(tables_[1]->rows(), 0u);
  tables_[1]->full = false;
  EXPECT_EQ(work(ShareTask::kDeal).dealt, 3u);
  EXPECT_EQ(work(ShareTask::kAudit).audited, 3u);
  expect_alarms(0, {});
}

}  // namespace
}  // namespace tkdc
