// SPDX-License-Identifier: Apache-2.0
// Stores of two servers that were lost and come back from a backup: their keys serve, and nothing
// that serves once serves twice. The control puts a copy of a store in its place, and reads a
// share.
#include <optional>

#include "pair/keys_parties.h"
#include "service/backup/restore.h"
#include "service/backup/take_backup.h"
#include "service/pair/pair_pools.h"
#include "service/store/store_list.h"
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {
namespace {

namespace fs = std::filesystem;
using test::Krb5Client;

const SecretBuffer& backup_key() {
  static const SecretBuffer key = draw_backup_key();
  return key;
}

// Of a store that nobody has open.
std::string take_of(const StoreOptions& of, std::uint64_t now_s) {
  TakeOptions options;
  options.store = of;
  options.folder = fs::path(of.path).parent_path();
  options.recipient = backup_public_key(backup_key());
  options.now_s = now_s;
  auto taken = take_backup(options, SecretBuffer(32));
  EXPECT_TRUE(taken.ok()) << taken.error().message;
  return taken.ok() ? taken->path : "";
}
void restore_to(const StoreOptions& of, const std::string& path) {
  auto fd = open_backup(path);
  ASSERT_TRUE(fd.ok());
  auto reader = BackupReader::open(*fd, path, backup_key());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  RestoreOptions options;
  options.store = of;
  options.replace = true;
  auto restore = Restore::begin(options, (*reader)->whole_head(), SecretBuffer(32));
  ASSERT_TRUE(restore.ok()) << restore.error().message;
  auto done = (*restore)->run(**reader);
  ASSERT_TRUE(done.ok()) << done.error().message;
}

class RestoredServers : public testing::Test {
 protected:
  void only_jobs() { ahead_ = false; }
  // Both stop; then what is done with their stores; then they start again.
  void between(const std::function<void(std::size_t)>& work) {
    two.restart([&](std::size_t p) {
      two.close_store(p);
      work(p);
      two.open_store(p);
    });
  }
  void take_both() {
    ++now_s_;
    between([&](std::size_t p) { backups[p] = take_of(two.store_options(p), now_s_); });
  }
  void lose_and_restore(std::size_t p) {
    fs::remove_all(two.store_options(p).path);
    restore_to(two.store_options(p), backups[p]);
  }
  void serves(const KeyRef& ref, Krb5Client& whole) {
    const TwoServices::Job job{TKDC_OP_MAC, ref, 56, {}, random_octets(4)};
    const auto out = two.ask(job);
    ASSERT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0] << two.ended(0) << two.ended(1);
    EXPECT_EQ(out.output, whole.checksum(56, job.input));
  }
  std::vector<PairPools::Count> pools_of(std::size_t p) {
    PairPools pools(*two.store(p).values(), p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator);
    EXPECT_TRUE(pools.load().ok());
    return pools.counts();
  }

  bool ahead_ = false;
  std::uint64_t now_s_ = 1'790'000'000;
  std::string backups[2];
  TwoServices two{512, [this](JobServiceOptions& options) { options.pair_ahead = ahead_; }};
};

// One of both, the other one, both; and again of the same backups. Keys serve each time, and the
// pool that they are of is used up at both.
TEST_F(RestoredServers, KeysServeFromABackupAsOftenAsItIsRestored) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef ref = two.make_key("alice@R", kEnctype, key);
  take_both();
  const pair::Label first = [&] {
    two.stop();
    const auto before = pools_of(0);
    two.restart();
    return before.at(0).id;
  }();
  serves(ref, whole);
  const std::vector<std::vector<std::size_t>> losses = {{0}, {1}, {0, 1}, {0, 1}};
  for (const auto& lost : losses) {
    between([&](std::size_t p) {
      if (std::ranges::find(lost, p) != lost.end()) lose_and_restore(p);
    });
    serves(ref, whole);
    EXPECT_EQ(two.service(0).status().pair->pool_left, 512u) << "a pool was made, none was used";
    two.stop();
    for (const std::size_t p : {0, 1})
      for (const PairPools::Count& one : pools_of(p)) {
        if (one.id == first) {
          EXPECT_EQ(one.next, one.blocks) << p;
        }
      }
    EXPECT_EQ(two.store(0).inventory().value(), two.store(1).inventory().value());
    two.restart();
  }
  // New keys are made, and served from the pool that is new.
  const Bytes other = random_octets(16);
  Krb5Client others(kEnctype, other);
  const KeyRef bob = two.make_key("bob@R", kEnctype, other);
  two.stop();
  two.restart();
  serves(bob, others);
  serves(ref, whole);
  take_both();
  between([&](std::size_t p) { lose_and_restore(p); });
  serves(bob, others);
  serves(ref, whole);
  for (const std::size_t p : {0, 1}) EXPECT_TRUE(two.troubles(p).empty());
}

// Each of both alone, while the other one's pool has blocks: that one gives them up, on disk, and
// the key serves.
class OneIsRestored : public RestoredServers, public testing::WithParamInterface<std::size_t> {};
TEST_P(OneIsRestored, TheOtherOneGivesUpAPoolThatHasBlocks) {
  const std::size_t lost = GetParam(), other = 1 - lost;
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef ref = two.make_key("alice@R", kEnctype, key);
  take_both();
  serves(ref, whole);
  PairPools::Count before;
  between([&](std::size_t p) {
    if (p == lost) lose_and_restore(p);
    if (p != other) return;
    two.open_store(p);
    before = pools_of(p).at(0);
    two.close_store(p);
  });
  EXPECT_LT(before.next, before.blocks);
  serves(ref, whole);
  two.stop();
  for (const std::size_t p : {0, 1}) {
    const auto now = pools_of(p);
    ASSERT_EQ(now.size(), 2u);
    const auto first =
        std::ranges::find_if(now, [&](const auto& one) { return one.id == before.id; });
    ASSERT_NE(first, now.end());
    EXPECT_EQ(first->next, first->blocks) << p;
  }
  two.restart();
  serves(ref, whole);
  for (const std::size_t p : {0, 1}) EXPECT_TRUE(two.troubles(p).empty());
}
INSTANTIATE_TEST_SUITE_P(EachOfBoth, OneIsRestored, testing::Values(0, 1));

// Work ahead too: a page of keys comes in by a circuit; pools that no key is of go at both.
TEST_F(RestoredServers, WorkAheadBringsKeysInAndRemovesPoolsThatNothingIsOf) {
  ahead_ = true;
  std::vector<KeyRef> keys;
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  for (int k = 0; k < 3; ++k)
    keys.push_back(two.make_key("u" + std::to_string(k) + "@R", kEnctype, key));
  take_both();
  between([&](std::size_t p) { lose_and_restore(p); });
  for (const KeyRef& ref : keys) serves(ref, whole);
  for (KeyRef& ref : keys)
    ASSERT_EQ(two.ask({TKDC_OP_DESTROY, ref, 0, {}, {}, AgentRole::kAdmin}).both(), TKDC_STATUS_OK);
  two.stop();
  two.restart();
  for (const std::size_t p : {0, 1}) {
    for (int k = 0; k < 4000 && two.service(p).status().pair->pools != 1; ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(two.service(p).status().pair->pools, 1u);
  }
}

// Keys that were made or removed since the backup: no session, until both have agreed on what both
// have; then they serve.
TEST_F(RestoredServers, OfDifferentStatesTheyAgree) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef alice = two.make_key("alice@R", kEnctype, key);
  const KeyRef bob = two.make_key("bob@R", kEnctype, key);
  take_both();
  const KeyRef carol = two.make_key("carol@R", kEnctype, key);
  ASSERT_EQ(two.ask({TKDC_OP_DESTROY, bob, 0, {}, {}, AgentRole::kAdmin}).both(), TKDC_STATUS_OK);
  std::vector<StoreList> lists(2);
  two.stop();
  two.close_store(1);
  lose_and_restore(1);
  two.close_store(0);
  for (const std::size_t p : {0, 1}) {
    auto snapshot = StoreSnapshot::take(two.store_options(p), SecretBuffer(32));
    ASSERT_TRUE(snapshot.ok()) << snapshot.error().message;
    lists[p] = list_store(**snapshot, two.store_options(p)).value();
  }
  auto agreed = agree_on(lists);
  ASSERT_TRUE(agreed.ok()) << agreed.error().message;
  EXPECT_EQ(agreed->kept, 1u);
  EXPECT_EQ(agreed->lone.size(), 2u);
  EXPECT_FALSE(agree_on(std::span(lists).first(1)).ok());
  for (const std::size_t p : {0, 1}) two.open_store(p);
  EXPECT_NE(two.store(0).inventory().value(), two.store(1).inventory().value());
  for (const std::size_t p : {0, 1}) {
    // As it is on a stopped server: by the store itself.
    two.close_store(p);
    auto store = Store::open(two.store_options(p), SecretBuffer(32));
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(keep_common(**store, *agreed).ok());
    store->reset();
    two.open_store(p);
  }
  EXPECT_EQ(two.store(0).inventory().value(), two.store(1).inventory().value());
  two.restart();
  serves(alice, whole);
  for (const KeyRef& gone : {bob, carol})
    EXPECT_EQ(two.ask({TKDC_OP_MAC, gone, 56, {}, random_octets(4)}).both(),
              TKDC_STATUS_UNKNOWN_KEY);
}

// ---- the control

// Server 0, whose store has a pool and a record of it, proves that record in two sessions with a
// server 1 that is changed and names the first block each time. Between them its store goes back:
// by a backup, or by a copy of its folder. Whether server 1 has its share then; and why server 0
// did not prove it again.
struct Read {
  bool share = false;
  std::string refusal;
  // The prover's last word about its block: 1, or 0; none where it closed before that was read.
  std::optional<std::uint8_t> taken;
};
Read read_after(bool by_backup) {
  Read out;
  const std::string root = test::make_scratch("pair-restored");
  StoreOptions options;
  options.path = root + "/store";
  options.installation = kInstallation;
  options.map_bytes = std::size_t{64} << 20;
  const auto opened = [&] { return Store::open(options, SecretBuffer(32)).value(); };
  const pair::BothPools& pools = pair::pools();
  const pair::BothStored record = pair::record_of(pools, 0);
  {
    auto store = opened();
    PairPools kept(*store->values(), pair::Side::kGarbler);
    EXPECT_TRUE(kept.keep({pools[0].id, pools[0].deltas, pools[0].blocks}).ok());
  }
  const std::string copy = root + "/copy", backup = by_backup ? take_of(options, 1) : "";
  fs::copy(options.path, copy, fs::copy_options::recursive);
  std::vector<pair::Spied> spied;
  for (int turn = 0; turn < 2; ++turn) {
    out.taken.reset();
    auto store = opened();
    PairPools position(*store->values(), pair::Side::kGarbler);
    EXPECT_TRUE(position.load().ok());
    const pair::SessionBody prover = [&](pair::Session& session) -> Result<void> {
      auto reserved = pair::reserve(session, *position.find(pools[0].id), position, 1);
      if (!reserved) return reserved.error();
      auto held = pair::bridge(session, *reserved, record[0], pair::kKeyName);
      return held ? Result<void>() : held.error();
    };
    const pair::SessionBody rogue = [&](pair::Session& session) -> Result<void> {
      const pair::RawWish own{pools[1].id, 0, 1};
      pair::RawWish peers;
      auto done = session.channel().write_all(std::span<const pair::RawWish>(&own, 1));
      if (done) done = session.channel().read_all(std::span(&peers, 1));
      if (!done) return done;
      std::uint8_t taken = 1;
      done = session.channel().write({&taken, 1});
      if (done) done = session.channel().read({&taken, 1});
      if (done) out.taken = taken;
      if (!done || taken != 1) {
        // The prover has still to say why: of a peer that has gone it would say that.
        std::uint8_t more = 0;
        (void)session.channel().read({&more, 1});
        return fail("it does not take the block");
      }
      auto spy = pair::spied_bridge(session, pools[1].blocks[0], pools[1].deltas.delta,
                                    record[1].blocks[0]);
      if (!spy) return spy.error();
      spied.push_back(*spy);
      return {};
    };
    const ot::Outcome outcome = pair::with_sessions(prover, rogue);
    store.reset();
    out.refusal = outcome.error[0].value_or("");
    if (turn > 0) break;
    EXPECT_TRUE(outcome.ok()) << out.refusal;
    fs::remove_all(options.path);
    if (by_backup)
      restore_to(options, backup);
    else
      fs::rename(copy, options.path);
  }
  fs::remove_all(root);
  if (spied.size() != 2) return out;
  const pair::Label share = ot::field().product(spied[0].proof.value ^ spied[1].proof.value,
                                                pair::inverse_of(spied[0].coin ^ spied[1].coin));
  out.share = share == record[0].blocks[0].own;
  return out;
}

TEST(RestoredPool, ABackupBringsNoBlockBack) {
  const Read restored = read_after(true), copied = read_after(false);
  EXPECT_FALSE(restored.share);
  EXPECT_EQ(restored.taken.value_or(0), 0) << restored.refusal;
  EXPECT_NE(restored.refusal.find("0 blocks have been made"), std::string::npos)
      << restored.refusal;
  EXPECT_TRUE(copied.share) << "the control: a copy of the store's folder";
  EXPECT_EQ(copied.refusal, "");
}

}  // namespace
}  // namespace tkdc
