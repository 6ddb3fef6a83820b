// SPDX-License-Identifier: Apache-2.0
// A refresh of two servers: whose stores were stolen before it and after it has no key, nor forges
// one; keys serve meanwhile; whatever stops it, it goes on.
#include "ot/field.h"
#include "refreshing.h"
#include "service/store/settled_stores.h"

namespace tkdc {
namespace {

// Also one that is drawn later: of a pool of before, both would have had it already.
TEST_F(PairRefreshTest, StoresOfBeforeAndAfterAreNoKey) {
  const Bytes alices = random_octets(16);
  Krb5Client whole(kEnctype, alices);
  const KeyRef alice = two.make_key("alice@R", kEnctype, alices);
  const Dump before[2] = {dump(0, {alice}), dump(1, {alice})};
  restart();  // whose reserved blocks are no more on disk
  const auto bob = draw_key("bob@R");
  const Dump later[2] = {dump(0, {alice, bob.first}), dump(1, {alice, bob.first})};
  const std::vector<pair::Label> old = pools(0);
  const Digest inventory = two.store(0).inventory().value();
  for (const std::size_t p : {0, 1}) {
    EXPECT_TRUE(make(before[p], later[1 - p], alices)) << "the control: of the same side";
    EXPECT_TRUE(make(before[p], later[1 - p], bob.second)) << "the control: of a pool of before";
  }
  refresh(0);
  const auto carol = draw_key("carol@R");
  const std::vector<KeyRef> keys{alice, bob.first, carol.first};
  const Dump after[2] = {dump(0, keys), dump(1, keys)};
  for (const Bytes& key : {alices, bob.second, carol.second}) {
    EXPECT_TRUE(make(after[0], after[1], key)) << "the control: of the same side";
    for (const std::size_t p : {0, 1}) EXPECT_FALSE(make(later[p], after[1 - p], key)) << p;
  }
  // Nothing that was secret of a pool, or of a key that was there, is left.
  for (const std::size_t p : {0, 1}) {
    EXPECT_FALSE(
        std::ranges::any_of(pools(p), [&](const pair::Label& id) { return id == old[0]; }));
    for (const Bytes& one : later[p])
      EXPECT_FALSE(std::ranges::count(one, 0) < 12 && after[p].contains(one)) << p;
    EXPECT_EQ(record(p, alice).version, 2u);
    EXPECT_NE(two.store(p).inventory().value(), inventory) << "no session with a store of before";
    EXPECT_GT(refreshed(p).at_s, 0u);
  }
  serves(alice, whole);
  restart();
  serves(alice, whole);
}

// Of the server that is robbed, and the other one that is changed, both ways round.
TEST_F(PairRefreshTest, AStolenDeltaForgesNothing) {
  ahead = false;
  restart();
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef alice = two.make_key("alice@R", kEnctype, key);
  const pair::Label stolen[2] = {delta(0), delta(1)};
  const auto forged = [&](std::size_t q) {
    two.stop();
    forge(q, stolen[1 - q]);
    two.restart();
    const TwoServices::Job job = mac_of(alice);
    const auto out = two.ask_once(mac_of(alice));
    EXPECT_EQ(out.both(), TKDC_STATUS_DEAL_AGAIN);
    Bytes answer;
    const bool served = two.serves_or_ends(job, [&](const Bytes& got) { answer = got; });
    EXPECT_NE(answer, whole.checksum(56, job.input)) << "by another key, or none";
    two.stop();
    two.store(q).read_hook = nullptr;
    return served;
  };
  for (const std::size_t q : {0, 1}) EXPECT_TRUE(forged(q)) << "the control: unseen";
  ahead = true;
  two.restart();
  refresh(1);
  ahead = false;
  for (const std::size_t q : {0, 1}) {
    EXPECT_FALSE(forged(q));
    EXPECT_TRUE(two.service(1 - q).deviation()) << q;
  }
  two.restart();
  serves(alice, whole);
}

// Server 1 is asked, which does not lead.
TEST_F(PairRefreshTest, KeysServeMeanwhile) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const std::vector<KeyRef> keys = make_keys(4, key);
  two.service(1).ask_shares(ShareTask::kRefresh);
  EXPECT_TRUE(two.service(1).status().shares.wanted);
  std::atomic<bool> done{false};
  std::thread sessions([&] {
    pump_until_it_serves(1);
    done = true;
  });
  std::size_t served = 0;
  for (; !done; ++served) serves(keys[served % keys.size()], whole);
  sessions.join();
  EXPECT_GT(served, 0u);
  for (const std::size_t p : {0, 1}) {
    const JobServiceStatus now = two.service(p).status();
    EXPECT_EQ(now.refresh_epoch, 1u);
    EXPECT_EQ(now.shares.finished, 1u);
    EXPECT_FALSE(now.shares.running || now.shares.wanted);
    EXPECT_EQ(now.shares.trouble, "");
    EXPECT_EQ(now.shares.keys, keys.size());
    EXPECT_EQ(now.shares.looked_at, keys.size());
    EXPECT_TRUE(two.troubles(p).empty());
    for (const KeyRef& ref : keys) EXPECT_EQ(record(p, ref).version, 2u);
  }
  for (const KeyRef& ref : keys) serves(ref, whole);
}

// Keys of a pool that was given up move too, by a circuit; and nothing needs one any more.
TEST_F(PairRefreshTest, KeysOfPoolsWithoutBlocksMove) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef alice = two.make_key("alice@R", kEnctype, key);
  two.restart([&](std::size_t p) {
    if (p == 0) return;
    EXPECT_EQ(kept::give_up_blocks(*two.store(p).values()).value(), 1u);
  });
  serves(alice, whole);
  EXPECT_EQ(record(0, alice).version, 1u) << "by itself it does not move";
  EXPECT_EQ(pools(0).size(), 2u);
  const auto said = [&] { return *two.service(1).status().pair; };
  EXPECT_EQ(said().pools, 2u);
  EXPECT_EQ(said().pools_spent, 1u);
  EXPECT_GT(said().pool_least, 0u) << "of those that have any";
  refresh(0);
  EXPECT_EQ(said().pools_spent, 0u);
  for (const std::size_t p : {0, 1}) {
    EXPECT_EQ(record(p, alice).version, 2u);
    EXPECT_EQ(pools(p).size(), 1u);
  }
  restart();
  serves(alice, whole);
}

// Either is killed, again and again, and forgets what it was asked: its blocks are given up, what
// is half done is settled, and the refresh comes to its end. Each life is a third longer than the
// one before it, so that one is long enough on any machine.
TEST_F(PairRefreshTest, KilledServersGoOn) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const std::vector<KeyRef> keys = make_keys(3, key);
  const std::vector<pair::Label> old = pools(0);
  two.service(0).ask_shares(ShareTask::kRefresh);
  int kills = 0;
  for (int steps = 5; kills < 40 && !has_ended(1); ++kills, steps += 1 + steps / 3) {
    for (int k = 0; k < steps && !has_ended(1); ++k) {
      if (two.is_over()) begin_session();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    two.break_link();
    two.join();
    EXPECT_TRUE(
        kept::give_up_blocks(*two.store(static_cast<std::size_t>(kills % 2)).values()).ok());
    settle_both({&two.store(0), &two.store(1)});
    if (kills > 0 || pools(0).size() > 1) two.restart_service();
    begin_session();
  }
  EXPECT_TRUE(has_ended(1)) << kills;
  EXPECT_GE(kills, 3) << "the control: it was killed amid it";
  pump_until_it_serves(1);
  for (const KeyRef& ref : keys) serves(ref, whole);
  for (const std::size_t p : {0, 1}) {
    for (const KeyRef& ref : keys) EXPECT_GE(record(p, ref).version, 2u);
    EXPECT_FALSE(
        std::ranges::any_of(pools(p), [&](const pair::Label& id) { return id == old[0]; }));
  }
}

// A key of which one has not the same version stays, and so does its pool; both say it, and it is
// no refresh. When both have it again, it ends.
TEST_F(PairRefreshTest, AKeyThatCannotMoveIsSaid) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef alice = two.make_key("alice@R", kEnctype, key);
  const KeyRef bob = two.make_key("bob@R", kEnctype, key);
  two.stop();
  two.store(1).read_hook = [&](KeyRecord& of) {
    if (of.ref.id == bob.id) of.version = 7;
  };
  two.restart();
  two.service(1).ask_shares(ShareTask::kRefresh);
  const auto failed = [&](std::size_t p) {
    const ShareUpkeepStatus now = two.service(p).status().shares;
    return now.finished == 1 && !now.running && !now.wanted ? now.trouble : "";
  };
  pump_until([&] { return !failed(0).empty() && !failed(1).empty(); });
  for (const std::size_t p : {0, 1}) {
    EXPECT_NE(failed(p).find("1 keys could not be moved"), std::string::npos) << failed(p);
    EXPECT_EQ(refreshed(p).epoch, 0u);
    EXPECT_EQ(pools(p).size(), 2u);
    EXPECT_EQ(two.troubles(p).size(), 1u);
  }
  EXPECT_EQ(record(0, alice).version, 2u);
  EXPECT_EQ(record(0, bob).version, 1u);
  serves(alice, whole);
  two.stop();
  two.store(1).read_hook = nullptr;
  two.restart();
  pump_until_it_serves(1);  // by itself
  EXPECT_EQ(record(1, alice).version, 2u) << "it was moved before";
  EXPECT_EQ(record(1, bob).version, 2u);
  for (const KeyRef& ref : {alice, bob}) serves(ref, whole);
}

// A key that is staged of an old pool could not be bound any more: it is gone, and keeps nothing.
TEST_F(PairRefreshTest, WhatIsStagedOfAnOldPoolIsStagedAgain) {
  KeyRef staged = two.stage(kEnctype, {});
  refresh(0);
  EXPECT_EQ(pools(1).size(), 1u);
  EXPECT_EQ(two.bind(staged, "alice@R").both(), TKDC_STATUS_UNKNOWN_KEY);
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  serves(two.make_key("alice@R", kEnctype, key), whole);
}

}  // namespace
}  // namespace tkdc
