// SPDX-License-Identifier: Apache-2.0
// How far a pool goes: what sessions and keys take of it, and what becomes of its keys.
#include <algorithm>

#include "pair/proof.h"
#include "service/pair/pair_pools.h"
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {
namespace {

using test::Krb5Client;

constexpr std::uint32_t kSmallest = 17;  // its circuits are
void only_jobs(JobServiceOptions& options) { options.pair_ahead = false; }

TwoServices::Job small_job(const KeyRef& ref) {
  return {TKDC_OP_MAC, ref, 56, {}, random_octets(4)};
}

// Each session takes a block of a pool of which it needs a key, and not as many as a long one does.
TEST(PairPoolsOfServers, AShortSessionTakesOneBlock) {
  TwoServices two(512, only_jobs);
  const KeyRef ref = two.make_key("alice@R", kSmallest, random_octets(16));
  const auto left = [&] { return two.service(0).status().pair->pool_left; };
  const std::uint64_t before = left();
  EXPECT_GE(before, 512u - 64);
  for (std::uint64_t session = 1; session <= 2; ++session) {
    two.stop();
    two.restart();
    ASSERT_EQ(two.ask(small_job(ref)).both(), TKDC_STATUS_OK);
    EXPECT_EQ(left(), before - session);
    EXPECT_EQ(two.service(1).status().pair->pool_least, before - session);
  }
}

// What has been taken is nowhere, neither after a restart.
TEST(PairPoolsOfServers, ABlockThatWasTakenIsWiped) {
  TwoServices two(64, only_jobs);
  two.stop();
  ValueTable& values = *two.store(0).values();
  pair::Pool made{pair::draw_coin(), {pair::Side::kGarbler, pair::draw_coin()}, {}};
  for (int k = 0; k < 200; ++k)
    made.blocks.push_back({pair::draw_coin(), pair::draw_coin(), pair::draw_coin()});
  const pair::AuthBlocks blocks = made.blocks;
  const pair::Label id = made.id;
  PairPools pools(values, pair::Side::kGarbler);
  ASSERT_TRUE(pools.keep(std::move(made)).ok());
  const auto is_zero = [](const pair::AuthBlock& one) {
    return one.own == pair::Label() && one.mac == pair::Label() && one.key == pair::Label();
  };
  const auto see = [&](const PairPools& of, std::size_t first) {
    const auto& now = of.find(id)->blocks;
    for (std::size_t k = 0; k < now.size(); ++k)
      if (k < first)
        EXPECT_TRUE(is_zero(now[k])) << k;
      else
        EXPECT_TRUE(now[k].own == blocks[k].own && now[k].key == blocks[k].key) << k;
  };
  // The other server is ahead: blocks are passed over, and go too.
  std::size_t taken = 0;
  const std::pair<std::size_t, std::size_t> takes[] = {{0, 5}, {8, 40}, {48, 100}};
  for (const auto& [first, count] : takes) {
    ASSERT_TRUE(*pools.take(id, first, count));
    taken = first + count;
    see(pools, taken);
    EXPECT_FALSE(*pools.take(id, first, 1));
  }
  PairPools again(values, pair::Side::kGarbler);
  ASSERT_TRUE(again.load().ok());
  see(again, taken);
  const std::vector<std::string> names = values.names("pool/").value();
  for (const std::string& name : names) {
    const SecretVector value = values.get(name).value().value();
    for (std::size_t k = 0; k < taken; ++k) {
      const auto* octets = reinterpret_cast<const std::uint8_t*>(&blocks[k].key);
      EXPECT_TRUE(std::ranges::search(value, std::span(octets, 16)).empty()) << name << " " << k;
    }
  }
}

bool comes_to(const std::function<bool()>& what) {
  for (int k = 0; k < 4000 && !what(); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return what();
}
struct AheadWhere {
  bool ahead = false;
  TwoServices two{512, [this](JobServiceOptions& options) { options.pair_ahead = ahead; }};
  PairJobsStatus status(std::size_t p) { return *two.service(p).status().pair; }
  void restart() {
    two.stop();
    two.restart();
  }
};

// All keys come into a session by one block of their pool.
TEST(PairPoolsOfServers, ManyKeysTakeOneBlockOfASession) {
  AheadWhere of;
  std::vector<KeyRef> keys;
  for (int k = 0; k < 3; ++k)
    keys.push_back(of.two.make_key("u" + std::to_string(k) + "@R", kSmallest, random_octets(16)));
  const std::uint64_t before = of.status(0).pool_left;
  of.ahead = true;
  of.restart();
  EXPECT_TRUE(comes_to([&] { return of.status(1).pool_left == before - 1; }));
  for (const KeyRef& key : keys) EXPECT_EQ(of.two.ask(small_job(key)).both(), TKDC_STATUS_OK);
  EXPECT_EQ(of.status(0).pool_left, before - 1);
}

// Servers that are told to keep different numbers of circuits ready keep the fewer ones; neither
// asks the other for more.
TEST(PairPoolsOfServers, TheSmallerReserveCounts) {
  constexpr std::size_t kOfOne = std::size_t{12} << 20;  // one circuit of small_job()'s, not three
  TwoServices two(512, [](JobServiceOptions& options) {
    if (options.party == 1) options.pair_prepared_bytes = kOfOne;
  });
  const KeyRef ref = two.make_key("alice@R", kSmallest, random_octets(16));
  const auto status = [&](std::size_t p) { return *two.service(p).status().pair; };
  for (int k = 0; k < 3; ++k) ASSERT_EQ(two.ask(small_job(ref)).both(), TKDC_STATUS_OK);
  EXPECT_TRUE(comes_to([&] { return status(1).prepared >= 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(two.ask(small_job(ref)).both(), TKDC_STATUS_OK) << "the session stands";
  for (const std::size_t p : {0, 1}) {
    EXPECT_EQ(status(p).prepared_most, kOfOne);
    EXPECT_LE(status(p).prepared_bytes, kOfOne);
    EXPECT_TRUE(two.troubles(p).empty());
  }
}

// A pool that is used up but for its last blocks: its keys do not serve, until they have moved; and
// then it goes.
TEST(PairPoolsOfServers, KeysOfAPoolThatIsUsedUpMove) {
  AheadWhere of;
  const Bytes key = random_octets(16);
  Krb5Client whole(kSmallest, key);
  const KeyRef ref = of.two.make_key("alice@R", kSmallest, key);
  const TwoServices::Job job = small_job(ref);
  const auto serves = [&] {
    const auto out = of.two.ask(job);
    EXPECT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    EXPECT_EQ(out.output, whole.checksum(56, job.input));
  };
  of.two.stop();
  use_up_to(of.two, 512 / 16);
  of.two.restart();
  const auto refused = of.two.ask(job);
  EXPECT_EQ(refused.both(), TKDC_STATUS_UNAVAILABLE);
  EXPECT_NE(refused.message[0].find("when they have been moved"), std::string::npos);
  for (const std::size_t p : {0, 1}) EXPECT_EQ(of.two.troubles(p).size(), 1u);
  EXPECT_EQ(of.two.ask(job).both(), TKDC_STATUS_UNAVAILABLE);
  EXPECT_EQ(of.status(1).pool_least, 512u / 16) << "what is kept has not been touched";
  EXPECT_EQ(of.two.troubles(0).size(), 1u) << "said once";

  of.ahead = true;
  of.restart();
  EXPECT_TRUE(comes_to([&] { return of.status(0).pools == 1 && of.status(1).pools == 1; }));
  serves();
  of.restart();
  serves();
  EXPECT_EQ(of.status(0).pools, 1u);
  of.two.stop();
  for (const std::size_t p : {0, 1}) EXPECT_EQ((*of.two.store(p).get(ref.id))->version, 2u);
  EXPECT_EQ(of.two.store(0).inventory().value(), of.two.store(1).inventory().value());
}

// As many pools as there may be: no key is made, those that are there serve; pools that nothing is
// of go, and keys are made again.
TEST(PairPoolsOfServers, AFullListRefusesKeysAndNoSession) {
  AheadWhere of;
  const KeyRef ref = of.two.make_key("alice@R", kSmallest, random_octets(16));
  of.two.stop();
  use_up_to(of.two, 100);
  std::vector<pair::Label> ids;
  for (std::size_t k = 1; k < PairPools::kMost; ++k) ids.push_back(pair::draw_coin());
  for (const std::size_t p : {0, 1}) {
    const auto side = p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator;
    PairPools pools(*of.two.store(p).values(), side);
    ASSERT_TRUE(pools.load().ok());
    for (const pair::Label& id : ids) {
      pair::Pool pool{id, {side, pair::draw_coin()}, {}};
      pool.blocks.resize(1);
      ASSERT_TRUE(pools.keep(std::move(pool)).ok());
    }
  }
  of.two.restart();
  EXPECT_EQ(of.two.ask(small_job(ref)).both(), TKDC_STATUS_OK);
  const TwoServices::Job stage{TKDC_OP_STAGE,    new_key(kSmallest), 0, {TKDC_ORIGIN_DRAWN}, {},
                               AgentRole::kAdmin};
  const auto refused = of.two.ask(stage);
  EXPECT_EQ(refused.both(), TKDC_STATUS_LIMIT);
  EXPECT_NE(refused.message[1].find("another one"), std::string::npos);
  of.ahead = true;
  of.restart();
  EXPECT_TRUE(comes_to([&] { return of.status(0).pools == 1 && of.status(1).pools == 1; }));
  of.ahead = false;
  of.restart();
  EXPECT_EQ(of.two.ask(stage).both(), TKDC_STATUS_OK);
  EXPECT_EQ(of.two.ask(small_job(ref)).both(), TKDC_STATUS_OK);
}

}  // namespace
}  // namespace tkdc
