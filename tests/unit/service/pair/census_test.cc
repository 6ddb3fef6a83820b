// SPDX-License-Identifier: Apache-2.0
// What the records of a store name, read a page at a time; and that jobs have their turn meanwhile.
#include "refreshing.h"
#include "service/pair/pair_census.h"

namespace tkdc {
namespace {

constexpr pair::Label kOne{1, 2}, kOther{3, 4};

KeyRecord record_of(std::uint32_t number, const std::optional<pair::Label>& pool) {
  KeyRecord out;
  std::memcpy(out.ref.id.data() + 4, &number, sizeof number);
  out.ref.id[0] = 0xCE;
  out.ref.installation = kInstallation;
  out.principal_name = "u" + std::to_string(number) + "@R";
  for (SecretVector& component : out.fields["key"].component) component.assign(16, 1);
  if (!pool) return out;
  out.sharing = kPairSharing;
  out.fields[kPoolField] = put_pool(*pool);
  return out;
}
void add(Store& store, const KeyRecord& record) {
  ASSERT_TRUE(store.prepare(record).ok() && store.commit(record.ref.id).ok());
}

class PairCensusTest : public testing::Test {
 protected:
  PairCensusTest() {
    StoreOptions options;
    options.path = root + "/store";
    options.installation = kInstallation;
    options.map_bytes = std::size_t{64} << 20;
    store = std::make_unique<SlowStore>(Store::open(options, SecretBuffer(32)).value());
    store->read_hook = [this](KeyRecord&) { ++read; };
  }

  ~PairCensusTest() override {
    store.reset();
    std::filesystem::remove_all(root);
  }

  const std::string root = test::make_scratch("pair-census");
  std::unique_ptr<SlowStore> store;
  std::size_t read = 0;
};

TEST_F(PairCensusTest, ReadsAPageInAStep) {
  for (std::uint32_t n = 0; n < 600; ++n) add(*store, record_of(n, n % 3 == 0 ? kOther : kOne));
  add(*store, record_of(600, std::nullopt));  // not of two servers
  PairCensus census(*store);
  EXPECT_FALSE(census.has_begun());
  std::size_t steps = 0, most = 0;
  for (bool more = true; more; ++steps) {
    EXPECT_EQ(census.found(), nullptr) << "not all of it, and no part";
    const std::size_t before = read;
    more = census.step();
    most = std::max(most, read - before);
    if (steps == 0) add(*store, record_of(1000, kOne));  // as a job does in between
  }
  EXPECT_LE(most, PairCensus::kPage);
  EXPECT_GE(steps, 3u);
  ASSERT_NE(census.found(), nullptr);
  EXPECT_EQ(census.found()->size(), 2u);
  EXPECT_EQ(census.found()->at(id_of(kOther)), 200u);
  EXPECT_GE(census.found()->at(id_of(kOne)), 400u);
  census.forget();
  EXPECT_EQ(census.found(), nullptr);
  EXPECT_FALSE(census.has_begun());
}

// Of a key that a list has dropped its pool has to stay, too.
TEST_F(PairCensusTest, CountsDroppedKeys) {
  add(*store, record_of(1, kOne));
  add(*store, record_of(2, kOther));
  const KeyId id = record_of(2, kOther).ref.id;
  ASSERT_TRUE(store->dropped()->condemn_to_drop(id, 100).ok() && store->destroy(id).ok());
  ASSERT_EQ(*store->get(id), nullptr) << "the control: it is not in use";
  PairCensus census(*store);
  while (census.step()) {
  }
  ASSERT_NE(census.found(), nullptr);
  EXPECT_EQ(*census.found(),
            (std::map<PoolId, std::uint64_t>{{id_of(kOne), 1}, {id_of(kOther), 1}}));
}

// Of a store that cannot be read nothing is known, whatever was found before.
TEST_F(PairCensusTest, ARecordThatCannotBeReadIsNoAnswer) {
  for (std::uint32_t n = 0; n < 10; ++n) add(*store, record_of(n, kOne));
  store->read_hook = [&](KeyRecord& of) {
    if (++read == 5) of.fields.erase(kPoolField);
  };
  PairCensus census(*store);
  while (census.step()) {
  }
  EXPECT_TRUE(census.is_done());
  EXPECT_EQ(census.found(), nullptr);
  census.forget();
  while (census.step()) {
  }
  EXPECT_NE(census.found(), nullptr) << "the control";
}

// A refresh of large stores, here with keys that are no key of two servers: it ends, and no job
// waits until a store has been read.
class PairLargeStores : public PairRefreshTest {
 protected:
  static constexpr std::uint32_t kMany = 3000;
  void fill() {
    two.stop();
    for (const std::size_t p : {0, 1}) {
      for (std::uint32_t n = 0; n < kMany; ++n) add(two.store(p), record_of(n, std::nullopt));
      two.store(p).read_hook = [this, p](KeyRecord& of) {
        if (of.sharing == kPairSharing) return;
        ++read[p];
        // So slow that whoever does not lead reads no whole store while the leader is not
        // scheduled.
        if (p == 1) std::this_thread::sleep_for(std::chrono::microseconds(200));
      };
    }
    two.restart();
  }

  std::array<std::atomic<std::size_t>, 2> read{};  // in all
};

TEST_F(PairLargeStores, JobsHaveTheirTurnWhileTheyAreRead) {
  again = std::chrono::milliseconds(100);
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef alice = two.make_key("alice@R", kEnctype, key);
  fill();
  two.service(1).ask_shares(ShareTask::kRefresh);
  std::atomic<bool> done{false};
  std::thread sessions([&] {
    pump_until_it_serves(1);
    done = true;
  });
  while (!done) {
    const std::array<std::size_t, 2> before{read[0], read[1]};
    if (two.ask_once(mac_of(alice)).status[0] == TKDC_STATUS_OK) {
      for (const std::size_t p : {0, 1}) EXPECT_LT(read[p] - before[p], kMany / 2) << p;
    } else {
      serves(alice, whole);  // in the session that has begun
    }
  }
  sessions.join();
  for (const std::size_t p : {0, 1}) {
    EXPECT_GE(read[p], kMany) << "the control: it was read";
    EXPECT_EQ(two.service(p).status().shares.trouble, "");
  }
  EXPECT_EQ(pools(0).size(), 1u);
}

}  // namespace
}  // namespace tkdc
