// SPDX-License-Identifier: Apache-2.0
// A refresh of two servers: whose stores were stolen before it and after it has no key, nor forges
// one; keys serve meanwhile; whatever stops it, it goes on.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "ot/field.h"
#include "service/operation/keys.h"
#include "service/pair/pair_blocks.h"
#include "service/pair/pair_pools.h"
#include "service/store/kept_values.h"
#include "service/store/refresh_table.h"
#include "service/store/settled_stores.h"
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {
namespace {

using test::Krb5Client;
using Dump = std::set<Bytes>;  // of 16 octets each

TwoServices::Job mac_of(const KeyRef& ref) { return {TKDC_OP_MAC, ref, 56, {}, random_octets(4)}; }

class PairRefreshTest : public testing::Test {
 protected:
  // ---- sessions, one after the other, as servers make them
  void begin_session() {
    two.join();
    begun_with_ = refreshed(0).epoch;
    two.start_session();
  }
  void pump_until(const std::function<bool()>& what) {
    for (int k = 0; k < 12'000 && !what(); ++k) {
      if (two.is_over()) begin_session();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(what()) << two.ended(0) << "; " << two.ended(1);
  }
  RefreshState refreshed(std::size_t p) { return two.store(p).refresh()->state(); }
  bool has_ended(std::uint32_t epoch) {
    return refreshed(0).epoch == epoch && refreshed(1).epoch == epoch;
  }
  void refresh(std::size_t p) {
    const std::uint32_t epoch = refreshed(p).epoch + 1;
    two.service(p).ask_shares(ShareTask::kRefresh);
    pump_until_it_serves(epoch);
  }
  // It ends with its session: the next one is up.
  void pump_until_it_serves(std::uint32_t epoch) {
    pump_until([&] { return has_ended(epoch); });
    pump_until([&] { return begun_with_ == epoch && two.is_up(); });
  }
  void restart() {
    two.stop();
    two.restart();
  }

  void serves(const KeyRef& ref, Krb5Client& whole) {
    const TwoServices::Job job = mac_of(ref);
    const auto out = two.ask(job);
    ASSERT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0] << two.ended(0) << two.ended(1);
    EXPECT_EQ(out.output, whole.checksum(56, job.input));
  }
  KeyRecord record(std::size_t p, const KeyRef& ref) { return **two.store(p).get(ref.id); }
  std::vector<pair::Label> pools(std::size_t p) {
    PairPools of(*two.store(p).values(), p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator);
    EXPECT_TRUE(of.load().ok());
    EXPECT_FALSE(of.has_old() && !of.refreshing());
    std::vector<pair::Label> out;
    for (const PairPools::Count& one : of.counts()) out.push_back(one.id);
    return out;
  }
  pair::Label delta(std::size_t p) {
    PairPools of(*two.store(p).values(), p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator);
    EXPECT_TRUE(of.load().ok());
    return of.find(of.counts().at(0).id)->deltas.delta;
  }

  // ---- a thief
  // All that a store has, by 16 octets: records, Δ's and blocks of pools.
  Dump dump(std::size_t p, const std::vector<KeyRef>& keys) {
    Dump out;
    const auto add = [&](ByteSpan octets, std::size_t from) {
      for (; from + 16 <= octets.size(); from += 16)
        out.emplace(octets.begin() + static_cast<std::ptrdiff_t>(from),
                    octets.begin() + static_cast<std::ptrdiff_t>(from) + 16);
    };
    for (const KeyRef& ref : keys)
      for (const auto& [name, field] : record(p, ref).fields)
        for (const int c : {0, 1}) add(field.component[c], 0);
    ValueTable& values = *two.store(p).values();
    const std::vector<std::string> names = values.names("pool/").value();
    for (const std::string& name : names)
      add(**values.get(name), kept::is_head(name) ? kept::kHeadBytes - 16 : 0);
    return out;
  }
  // Whether something of the one and something of the other are a key.
  static bool make(const Dump& one, const Dump& other, const Bytes& key) {
    return std::ranges::any_of(one, [&](Bytes part) {
      for (std::size_t k = 0; k < part.size(); ++k) part[k] ^= key[k];
      return other.contains(part);
    });
  }
  std::pair<KeyRef, Bytes> draw_key(const std::string& principal) {
    KeyRef ref = two.stage(kEnctype, {});
    const auto out = two.ask({TKDC_OP_EXPORT, ref, 0, {}, {}, AgentRole::kAdmin});
    EXPECT_EQ(out.both(), TKDC_STATUS_OK);
    EXPECT_EQ(two.bind(ref, principal).both(), TKDC_STATUS_OK);
    return {ref, out.output};
  }
  // What server q reads of a key is another one, under MACs made by a Δ of the other server's.
  void forge(std::size_t q, const pair::Label& by) {
    two.store(q).read_hook = [by](KeyRecord& of) {
      SharedBytes& field = of.fields.at(field_name(56, "kc"));
      auto blocks = get_blocks(field).value();
      const pair::Label flip{5, 9};
      blocks[0].own = blocks[0].own ^ flip;
      blocks[0].mac = blocks[0].mac ^ ot::field().product(flip, by);
      field = put_blocks(blocks);
    };
  }

  // ---- a thief of memory
  // Whether the bits of a block of this record are in this process, as a session has them.
  bool is_in_memory(const KeyRecord& of) {
    const pair::Label own = get_blocks(of.fields.at(field_name(56, "kc"))).value()[0].own;
    return in_memory([&](const std::uint8_t* at, std::size_t octets) {
      constexpr std::size_t kBits = pair::kBlockBits, kEach = sizeof(pair::AuthBit);
      for (std::size_t from = 0; from + kBits * kEach <= octets; from += 16) {
        std::size_t j = 0;
        while (j < kBits && (at[from + j * kEach] & 1) == pair::bit_of(own, j)) ++j;
        if (j == kBits) return true;
      }
      return false;
    });
  }
  // Of each mapping that may be written and is no file's, as the kernel reads it.
  static bool in_memory(const std::function<bool(const std::uint8_t*, std::size_t)>& found) {
    std::ifstream maps("/proc/self/maps");
    std::ifstream memory("/proc/self/mem", std::ios::binary);
    for (std::string line; std::getline(maps, line);) {
      std::uint64_t first = 0, end = 0, inode = 0;
      char rights[5] = {};
      if (std::sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %lu", &first, &end, rights, &inode) != 4)
        continue;
      if (rights[1] != 'w' || inode != 0 || end - first > std::size_t{1} << 30) continue;
      SecretVector page(end - first);  // its octets are in memory, too, until it goes
      memory.clear();
      memory.seekg(static_cast<std::streamoff>(first));
      memory.read(reinterpret_cast<char*>(page.data()), static_cast<std::streamsize>(page.size()));
      if (found(page.data(), static_cast<std::size_t>(memory.gcount()))) return true;
    }
    return false;
  }

  bool ahead = true;
  std::uint32_t begun_with_ = 0;  // the refresh epoch, of the last session
  TwoServices two{512, [this](JobServiceOptions& options) { options.pair_ahead = ahead; }};
};

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
  std::vector<KeyRef> keys;
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  for (int k = 0; k < 4; ++k)
    keys.push_back(two.make_key("u" + std::to_string(k) + "@R", kEnctype, key));
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
  refresh(0);
  for (const std::size_t p : {0, 1}) {
    EXPECT_EQ(record(p, alice).version, 2u);
    EXPECT_EQ(pools(p).size(), 1u);
  }
  restart();
  serves(alice, whole);
}

// Either is killed, again and again, and forgets what it was asked: its blocks are given up, what
// is half done is settled, and the refresh comes to its end.
TEST_F(PairRefreshTest, KilledServersGoOn) {
  std::vector<KeyRef> keys;
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  for (int k = 0; k < 3; ++k)
    keys.push_back(two.make_key("u" + std::to_string(k) + "@R", kEnctype, key));
  const std::vector<pair::Label> old = pools(0);
  two.service(0).ask_shares(ShareTask::kRefresh);
  int kills = 0;
  for (; kills < 40 && !has_ended(1); ++kills) {
    for (int k = 0; k < 5 + 13 * kills && !has_ended(1); ++k) {
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

// A key that was removed, of which the record is there still, is one of before.
TEST_F(PairRefreshTest, ARemovedKeyThatIsThereIsSaid) {
  const KeyRef alice = two.make_key("alice@R", kEnctype, random_octets(16));
  two.stop();
  for (const std::size_t p : {0, 1}) {
    ASSERT_TRUE(two.store(p).dropped()->condemn_to_drop(alice.id, 100).ok());
    ASSERT_TRUE(two.store(p).destroy(alice.id).ok());
  }
  two.restart();
  two.service(0).ask_shares(ShareTask::kRefresh);
  const auto trouble = [&] { return two.service(0).status().shares.trouble; };
  pump_until([&] { return !trouble().empty() || has_ended(1); });
  EXPECT_NE(trouble().find("1 keys could not be moved"), std::string::npos) << trouble();
  EXPECT_EQ(pools(0).size(), 2u) << "their pool stays";
  EXPECT_EQ(refreshed(0).epoch, 0u);
}

// An administrator's word begins another one amid it: what has moved since moves again, and the
// time that both note is not the first one's. A server that was only started again goes on.
TEST_F(PairRefreshTest, OneThatIsAskedForAmidAnotherBeginsAnew) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef alice = two.make_key("alice@R", kEnctype, key);
  two.stop();
  for (const std::size_t p : {0, 1}) {
    PairPools of(*two.store(p).values(), p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator);
    ASSERT_TRUE(of.load().ok() && of.retire_all(1000).ok());
  }
  ahead = false;  // it stays under way
  two.restart();
  pump_until([&] { return two.is_up(); });
  const std::vector<pair::Label> made = pools(0);
  EXPECT_EQ(made.size(), 2u);
  two.service(0).go_on_with_shares(ShareTask::kRefresh);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(two.is_over()) << "the control: this session goes on";
  EXPECT_EQ(two.service(0).status().refreshing_since_s, 1000u);
  two.stop();
  ahead = true;
  two.restart_service();
  const std::uint64_t asked_at = wall_s();
  two.service(1).ask_shares(ShareTask::kRefresh);
  begin_session();
  pump_until_it_serves(1);
  EXPECT_GE(refreshed(1).at_s, asked_at);
  for (const pair::Label& now : pools(1)) EXPECT_EQ(std::ranges::count(made, now), 0);
  serves(alice, whole);
}

// What a session has had of a key goes from memory when the key has moved: here one that is bridged
// ahead, by the block with which its pool is nearly used up.
TEST_F(PairRefreshTest, NothingOfBeforeIsInMemory) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef alice = two.make_key("alice@R", kEnctype, key);
  serves(alice, whole);
  KeyRecord before[2] = {record(0, alice), record(1, alice)};
  for (const KeyRecord& one : before) EXPECT_TRUE(is_in_memory(one)) << "the control";
  two.stop();
  use_up_to(two, 64 + 512 / 16);
  two.restart();
  const auto are_gone = [&] { return !is_in_memory(before[0]) && !is_in_memory(before[1]); };
  const auto version = [&] { return std::min(record(0, alice).version, record(1, alice).version); };
  pump_until([&] { return version() == 2; });
  EXPECT_FALSE(two.is_over()) << "in this session it was bridged, and moved";
  EXPECT_TRUE(are_gone() || (::sleep(1) == 0 && are_gone()));
  serves(alice, whole);
  for (const std::size_t p : {0, 1}) {
    before[p] = record(p, alice);
    EXPECT_TRUE(is_in_memory(before[p])) << "as it is now";
  }
  refresh(0);
  EXPECT_TRUE(are_gone());
  serves(alice, whole);
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
