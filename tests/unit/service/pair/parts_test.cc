// SPDX-License-Identifier: Apache-2.0
// Small messages and pools by themselves: what comes from the other server, and from the disk.
#include <map>

#include "heard_order.h"
#include "service/lifecycle/staged.h"
#include "service/pair/pair_begin.h"
#include "service/pair/pair_pools.h"
#include "service/pair/pair_queue.h"
#include "service/pair/pair_talk.h"
#include "two_services.h"

namespace tkdc {
namespace {

using pair::EndedBy;

TEST(PairTalk, OrdersThatAreNone) {
  EXPECT_TRUE(heard({0, 0, 0}).ok());
  EXPECT_TRUE(heard({2, 0, 5, 0, 0, 0, 1, 'x'}).ok());
  EXPECT_FALSE(heard({5, 0, 0}).ok()) << "another kind";
  EXPECT_FALSE(heard({0, 0, 1, 7}).ok()) << "an octet too many";
  EXPECT_FALSE(heard({2, 0, 4, 0, 0, 0, 1}).ok()) << "cut short";
  EXPECT_FALSE(heard({2, 0xff, 0xff}).ok()) << "too long";
  Bytes job{1, 0, 25 + PairStatement::kBytes};
  job.resize(3 + 25 + PairStatement::kBytes);
  EXPECT_TRUE(heard(job).ok());
  job[3 + 24] = TKDC_STATUS_DEAL_AGAIN + 1;
  EXPECT_FALSE(heard(job).ok()) << "a verdict that is none";
  job[3 + 24] = kMissing;
  job[3 + 24 + 33] = 2;
  EXPECT_TRUE(heard(job).ok());
  job[3 + 24 + 33] = 3;
  EXPECT_FALSE(heard(job).ok()) << "held: more than there is";
  job[3 + 24 + 33] = 2;
  job[3 + 24 + 36] = 3;
  EXPECT_TRUE(heard(job).ok());
  job[3 + 24 + 36] = 4;
  EXPECT_FALSE(heard(job).ok()) << "of tables: what nobody says";
  job[3 + 24 + 36] = 3;
  job.back() = PairOrder::kMostMade;
  ASSERT_TRUE(heard(job).ok());
  EXPECT_EQ(heard(job)->made, PairOrder::kMostMade);
  ++job.back();
  EXPECT_FALSE(heard(job).ok()) << "more circuits than a job has";
}

TEST(PairTalk, WhatBecomesOfAJob) {
  const auto said = [](Verdict verdict, std::uint8_t digest = 0) {
    PairStatement out;
    out.verdict = verdict;
    out.opened[0] = digest;
    return out;
  };
  const Verdict inconsistent = TKDC_STATUS_INCONSISTENT;
  EXPECT_EQ(concluded(said(kAdmit), said(kAdmit)), kAdmit);
  EXPECT_EQ(concluded(said(kAdmit, 1), said(kAdmit)), inconsistent);
  for (const Verdict one : {TKDC_STATUS_DENIED, TKDC_STATUS_UNKNOWN_KEY, TKDC_STATUS_BAD_REQUEST}) {
    EXPECT_EQ(concluded(said(one), said(one)), one);
    EXPECT_EQ(concluded(said(one), said(kAdmit)), inconsistent) << "a refusal of one alone";
    EXPECT_EQ(concluded(said(kAdmit), said(one)), inconsistent);
    EXPECT_EQ(concluded(said(one), said(kMissing)), kMissing);
  }
  EXPECT_EQ(concluded(said(TKDC_STATUS_LIMIT), said(kAdmit)), Verdict{TKDC_STATUS_LIMIT});
  EXPECT_EQ(concluded(said(TKDC_STATUS_DEAL_AGAIN), said(kAdmit)), Verdict{TKDC_STATUS_DEAL_AGAIN});
}

TEST(PairQueue, HasEachNameOnceAndNoneWithoutASession) {
  PairQueue queue;
  const JobName one{1, 2, 3}, other{1, 2, 4};
  const auto known = [](const JobName&) { return std::optional<std::size_t>(1); };
  for (int k = 0; k < 3; ++k) queue.put(one);
  queue.put_back(one, PairQueue::Clock::now());
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.take(known), one);
  EXPECT_EQ(queue.take(known), std::nullopt);
  queue.put(one);
  queue.put(other);
  EXPECT_EQ(queue.take([](const JobName&) { return std::optional<std::size_t>(); }), std::nullopt);
  EXPECT_EQ(queue.size(), 0u) << "jobs that are answered leave it";
  queue.put(one);
  queue.clear();
  EXPECT_EQ(queue.take(known), std::nullopt);
}

class TableInMemory : public ValueTable {
 public:
  Result<std::optional<SecretVector>> get(std::string_view name) override {
    const auto found = values.find(std::string(name));
    if (found == values.end()) return std::optional<SecretVector>();
    return std::optional(found->second);
  }
  Result<void> put(std::span<const NamedValue> all) override {
    if (full) return fail("disk full");
    for (const NamedValue& one : all)
      values[std::string(one.name)].assign(one.value.begin(), one.value.end());
    return {};
  }
  Result<void> room_for(std::size_t) override { return full ? fail("disk full") : Result<void>(); }
  Result<void> erase(std::span<const std::string> names) override {
    for (const std::string& name : names) values.erase(name);
    return {};
  }
  Result<std::vector<std::string>> names(std::string_view prefix) override {
    std::vector<std::string> out;
    for (const auto& [name, value] : values)
      if (name.starts_with(prefix)) out.push_back(name);
    return out;
  }
  std::map<std::string, SecretVector> values;
  bool full = false;
};

pair::Pool new_pool(std::size_t blocks) {
  pair::Pool out;
  randombytes_buf(&out.id, sizeof out.id);
  out.deltas = {pair::Side::kGarbler, pair::draw_delta(pair::Side::kGarbler)};
  out.blocks.resize(blocks);
  randombytes_buf(out.blocks.data(), sizeof(pair::AuthBlock) * blocks);
  return out;
}

TEST(PairPools, KeepsWhatIsNotUsedAndNoMore) {
  TableInMemory table;
  const pair::Pool pool = new_pool(3000);
  {
    PairPools pools(table, pair::Side::kGarbler);
    ASSERT_TRUE(pools.keep(pool).ok());
    EXPECT_TRUE(*pools.take(pool.id, 5, 20));
    EXPECT_FALSE(*pools.take(pool.id, 24, 1)) << "taken already";
    EXPECT_TRUE(*pools.take(pool.id, 1100, 10));
  }
  EXPECT_EQ(table.names("pool/")->size(), 2u + 188 - 69) << "chunks that are used have gone";
  PairPools again(table, pair::Side::kGarbler);
  ASSERT_TRUE(again.load().ok());
  EXPECT_EQ(*again.next(pool.id), 1110u);
  const pair::Pool* loaded = again.find(pool.id);
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(loaded->deltas.delta, pool.deltas.delta);
  for (std::size_t k = 1110; k < 3000; ++k) {
    ASSERT_EQ(loaded->blocks[k].own, pool.blocks[k].own) << k;
    ASSERT_EQ(loaded->blocks[k].key, pool.blocks[k].key) << k;
  }
  EXPECT_FALSE(PairPools(table, pair::Side::kEvaluator).load().ok()) << "of the other server";
}

TEST(PairPools, ANumberThatIsNotWrittenIsNotClaimed) {
  TableInMemory table;
  const pair::Pool pool = new_pool(100);
  PairPools pools(table, pair::Side::kGarbler);
  ASSERT_TRUE(pools.keep(pool).ok());
  table.full = true;
  EXPECT_FALSE(pools.take(pool.id, 0, 10).ok());
  EXPECT_EQ(*pools.next(pool.id), 0u);
  EXPECT_FALSE(pools.keep(new_pool(10)).ok());
  EXPECT_EQ(pools.counts().size(), 1u);
  table.full = false;
  EXPECT_TRUE(*pools.take(pool.id, 0, 10));
  ASSERT_TRUE(pools.drop(pool.id).ok());
  EXPECT_NE(pools.find(pool.id), nullptr) << "keys may be of it";
}

TEST(PairPools, ReadsNothingThatIsDamaged) {
  for (const char* which : {"/head", "/next", "/0000"})
    for (const bool gone : {false, true}) {
      TableInMemory table;
      ASSERT_TRUE(PairPools(table, pair::Side::kGarbler).keep(new_pool(100)).ok());
      for (auto it = table.values.begin(); it != table.values.end(); ++it)
        if (it->first.ends_with(which)) {
          if (gone)
            table.values.erase(it);
          else
            it->second.pop_back();
          break;
        }
      PairPools pools(table, pair::Side::kGarbler);
      const bool unseen = gone && std::string_view(which) == "/head";  // there is no pool then
      EXPECT_EQ(pools.load().ok(), unseen) << which;
    }
}

TEST(PairPools, OneWithoutABlockTakesNoMemoryAndGoesAsAWhole) {
  TableInMemory table;
  const pair::Pool pool = new_pool(100);
  {
    PairPools pools(table, pair::Side::kGarbler);
    ASSERT_TRUE(pools.keep(pool).ok());
    ASSERT_TRUE(*pools.take(pool.id, 0, 100));
  }
  PairPools pools(table, pair::Side::kGarbler);
  ASSERT_TRUE(pools.load().ok());
  EXPECT_EQ(pools.counts().at(0).next, 100u);
  EXPECT_EQ(pools.counts().at(0).blocks, 100u);
  EXPECT_EQ(pools.find(pool.id)->blocks.capacity(), 0u);
  EXPECT_EQ(pools.find(pool.id)->deltas.delta, pool.deltas.delta);
  EXPECT_FALSE(*pools.take(pool.id, 99, 1));
  EXPECT_FALSE(pools.take(pool.id, 100, 1).ok());
  ASSERT_TRUE(pools.erase(pool.id).ok());
  EXPECT_TRUE(table.values.empty());
}

TEST(StagedKeys, ThoseOfOnePoolGoAndNoOther) {
  StagedKeys staged;
  StagedKey of;
  for (const std::uint8_t pool : {1, 2}) {
    of.pool = {pool};
    EXPECT_TRUE(staged.put(KeyId{pool}, of));
  }
  staged.erase_of_pool({1});
  EXPECT_EQ(staged.find(KeyId{1}), nullptr);
  EXPECT_NE(staged.find(KeyId{2}), nullptr);
}

// ---- what the other server says of pools when a session begins

using Counts = std::vector<PairPools::Count>;

// Of an honest server 0, what it says, to a server 1 by hand that says `said` of the same pools and
// no more: how far server 0 comes.
struct Begun {
  EndedBy ended_by = EndedBy::kNothing;
  std::string error;
  std::optional<pair::Label> pool;
};
Begun begins_with(PairPools& pools, const Counts& said, bool refreshing = false,
                  bool asked = false) {
  ot::Ends up("server 0", "server 1"), down("server 1", "server 0");
  ot::Channel own(*up.stream.writer, *down.stream.reader, 1000),
      rogue(*down.stream.writer, *up.stream.reader, 1000);
  Bytes out;
  Writer writer(out);
  writer.u8(static_cast<std::uint8_t>(said.size()));
  writer.u8(refreshing ? 1 : 0);
  for (const PairPools::Count& one : said) {
    writer.raw({reinterpret_cast<const std::uint8_t*>(&one.id), sizeof one.id});
    writer.u64(one.next);
    writer.u64(one.blocks);
    writer.u8(one.old ? 1 : 0);
  }
  EXPECT_TRUE(rogue.write(out).ok());
  down.stream.writer->finish();  // so where a new pool is begun, it goes no further
  PairBeginning of;
  of.pool_blocks = 1024;
  Begun begun;
  if (auto refresh = begin_refresh(asked, pools); !refresh)
    return {EndedBy::kState, refresh.error().message, std::nullopt};
  auto best = agree_on_pool(own, of, pools, begun.ended_by);
  if (best && *best != nullptr) begun.pool = (*best)->id;
  if (!best) begun.error = best.error().message;
  return begun;
}

// Of two pools of 1,024 blocks, `first` of which the honest one has used 10.
class LyingPeer : public testing::Test {
 protected:
  static constexpr std::uint64_t kBlocks = 1024;
  void SetUp() override {
    for (const pair::Pool* one : {&first, &second}) ASSERT_TRUE(pools.keep(*one).ok());
    ASSERT_TRUE(*pools.take(first.id, 0, 10));
  }
  std::uint64_t next(const pair::Pool& of) { return *pools.next(of.id); }

  const pair::Pool first = new_pool(kBlocks), second = new_pool(kBlocks);
  TableInMemory table;
  PairPools pools{table, pair::Side::kGarbler};
};

// It burns that pool, at both alike, and no other.
TEST_F(LyingPeer, SaysThatAPoolIsSpentAndHasIt) {
  const Begun begun = begins_with(pools, {{first.id, kBlocks, kBlocks}, {second.id, 0, kBlocks}});
  EXPECT_EQ(begun.pool, second.id) << begun.error;
  EXPECT_TRUE(pools.is_spent(first.id));
  EXPECT_FALSE(pools.is_spent(second.id));
  EXPECT_EQ(next(first), kBlocks);
  EXPECT_EQ(next(second), 0u);
  PairPools again(table, pair::Side::kGarbler);
  ASSERT_TRUE(again.load().ok());
  EXPECT_EQ(*again.next(first.id), kBlocks) << "on disk";
}

// What this server has used stays used, and what it has spent stays spent, whatever is said.
TEST_F(LyingPeer, SaysThatAPoolIsNotSpentWhichIs) {
  ASSERT_TRUE(*pools.take(first.id, 10, kBlocks - 10));
  ASSERT_TRUE(*pools.take(second.id, 0, 5));
  const Begun begun = begins_with(pools, {{first.id, 0, kBlocks}, {second.id, 0, kBlocks}});
  EXPECT_EQ(begun.pool, second.id) << begun.error;
  EXPECT_TRUE(pools.is_spent(first.id));
  EXPECT_EQ(next(first), kBlocks);
  EXPECT_EQ(next(second), 5u);
}

TEST_F(LyingPeer, SaysANumberBehindTheLastBlockOrAPoolTwice) {
  for (const Counts& said :
       {Counts{{first.id, kBlocks + 1, kBlocks}, {second.id, 0, kBlocks}},
        Counts{{first.id, UINT64_MAX, kBlocks}, {second.id, 0, kBlocks}},
        Counts{{first.id, 10, kBlocks}, {first.id, kBlocks, kBlocks}, {second.id, 0, kBlocks}}}) {
    const Begun begun = begins_with(pools, said);
    EXPECT_EQ(begun.ended_by, EndedBy::kState);
    EXPECT_NE(begun.error.find("what no store has"), std::string::npos) << begun.error;
    EXPECT_FALSE(pools.is_spent(first.id));
    EXPECT_EQ(next(first), 10u);
    EXPECT_EQ(next(second), 0u);
  }
}

// A pool of another length is none that both have: it is not used, not burnt, and stays where
// blocks of it were used.
TEST_F(LyingPeer, SaysThatAPoolHasOtherBlocks) {
  const Begun begun = begins_with(pools, {{first.id, 20, 2 * kBlocks}, {second.id, 0, kBlocks}});
  EXPECT_EQ(begun.pool, second.id) << begun.error;
  EXPECT_EQ(next(first), 10u);
  EXPECT_FALSE(pools.is_spent(first.id));
  EXPECT_EQ(pools.orphans(), std::vector{first.id});
}

// A number that is too far ahead is not followed, but for the end.
TEST_F(LyingPeer, SaysANumberThatIsFarAhead) {
  const pair::Pool large = new_pool(2 * pair::kMostApart + 2);
  ASSERT_TRUE(pools.keep(large).ok());
  const std::uint64_t blocks = large.blocks.size();
  const auto says = [&](std::uint64_t number) {
    return begins_with(
        pools, {{first.id, 10, kBlocks}, {second.id, 0, kBlocks}, {large.id, number, blocks}});
  };
  says(pair::kMostApart + 1);
  EXPECT_EQ(next(large), 0u);
  says(pair::kMostApart);
  EXPECT_EQ(next(large), pair::kMostApart);
  says(blocks);
  EXPECT_EQ(next(large), blocks);
  EXPECT_TRUE(pools.is_spent(large.id));
}

// A refresh that is under way at one alone makes all pools old, on disk, and no pool of before
// serves; whoever says so, and however often.
TEST_F(LyingPeer, SaysThatARefreshIsUnderWay) {
  const Counts both{{first.id, 10, kBlocks}, {second.id, 0, kBlocks}};
  const auto all_old = [&] {
    PairPools again(table, pair::Side::kGarbler);
    EXPECT_TRUE(again.load().ok());
    return again.refreshing().has_value() && again.is_old(first.id) && again.is_old(second.id);
  };
  EXPECT_TRUE(begins_with(pools, both).pool.has_value()) << "the control";
  EXPECT_FALSE(pools.refreshing());
  const Begun begun = begins_with(pools, both, true);
  EXPECT_FALSE(begun.pool) << "a new one is to be made";
  EXPECT_TRUE(all_old());
  const std::uint64_t since = *pools.refreshing();
  // A pool that was made since is old where the other one does not know of the refresh.
  const pair::Pool third = new_pool(kBlocks);
  ASSERT_TRUE(pools.keep(third).ok());
  Counts three = both;
  three.push_back({third.id, 0, kBlocks});
  EXPECT_EQ(begins_with(pools, three, true).pool, third.id);
  EXPECT_FALSE(pools.is_old(third.id));
  EXPECT_FALSE(begins_with(pools, three, false).pool);
  EXPECT_TRUE(pools.is_old(third.id));
  EXPECT_EQ(pools.refreshing(), since);
}

// This server's own word is enough, and what the other one says does not take it back.
TEST_F(LyingPeer, SaysNothingOfARefresh) {
  const Counts both{{first.id, 10, kBlocks}, {second.id, 0, kBlocks}};
  EXPECT_FALSE(begins_with(pools, both, false, true).pool);
  EXPECT_FALSE(begins_with(pools, both, false).pool);
  EXPECT_TRUE(pools.is_old(first.id) && pools.is_old(second.id) && pools.refreshing());
}

// One that was asked for amid another covers what was stolen until then: so all pools are old
// again, also those that were made since, and the time is this one's.
TEST_F(LyingPeer, HearsOfARefreshThatIsAskedForAmidAnother) {
  ASSERT_TRUE(pools.retire({first.id, second.id}, 100).ok());
  const pair::Pool third = new_pool(kBlocks);
  ASSERT_TRUE(pools.keep(third).ok());
  ASSERT_TRUE(begin_refresh(false, pools).ok());
  EXPECT_EQ(pools.refreshing(), 100u) << "the control: by itself it goes on";
  EXPECT_FALSE(pools.is_old(third.id));
  const Counts three{
      {first.id, 10, kBlocks, true}, {second.id, 0, kBlocks, true}, {third.id, 0, kBlocks}};
  const std::uint64_t asked_at = wall_s();
  EXPECT_FALSE(begins_with(pools, three, true, true).pool) << "a new one is to be made";
  PairPools again(table, pair::Side::kGarbler);
  ASSERT_TRUE(again.load().ok());
  EXPECT_GE(again.refreshing().value_or(0), asked_at) << "on disk";
  EXPECT_TRUE(again.is_old(third.id));
}

TEST_F(LyingPeer, SaysThatAPoolIsOldWithoutARefresh) {
  const Begun begun = begins_with(pools, {{first.id, 10, kBlocks, true}, {second.id, 0, kBlocks}});
  EXPECT_EQ(begun.ended_by, EndedBy::kState);
  EXPECT_FALSE(pools.is_old(first.id) || pools.refreshing());
}

// What cannot be noted is not begun: no session, and nothing of it at this server.
TEST_F(LyingPeer, ADiskThatIsFullBeginsNoRefresh) {
  table.full = true;
  const Begun begun = begins_with(pools, {{first.id, 10, kBlocks}, {second.id, 0, kBlocks}}, true);
  EXPECT_EQ(begun.ended_by, EndedBy::kState);
  EXPECT_FALSE(begun.error.empty());
  EXPECT_FALSE(pools.is_old(first.id) || pools.refreshing());
}

// Old pools make room for new ones, up to a bound; without room an old one serves on.
TEST_F(LyingPeer, HasARefreshBegunAgainAndAgain) {
  std::size_t sessions = 0;
  Counts said;
  for (; sessions < 200; ++sessions) {
    said.clear();
    for (const PairPools::Count& one : pools.counts())
      said.push_back({one.id, one.next, one.blocks});
    if (begins_with(pools, said, sessions == 0 || !pools.refreshing()).pool) break;
    ASSERT_TRUE(pools.keep(new_pool(16)).ok());
    for (const PairPools::Count& one : pools.counts()) ASSERT_TRUE(pools.retire({one.id}, 1).ok());
  }
  EXPECT_EQ(pools.counts().size(), PairPools::kMostWithOld);
  EXPECT_TRUE(pools.full()) << "no key is made, and old ones serve";
  EXPECT_FALSE(pools.keep(new_pool(16)).ok());
}

}  // namespace
}  // namespace tkdc
