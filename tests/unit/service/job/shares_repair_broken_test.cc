// SPDX-License-Identifier: Apache-2.0
// A repair whose messages are changed on their way, or which is killed: what was there stays, or
// everything is done.
#include "service/lifecycle/repair_page.h"
#include "shares_repaired.h"

namespace tkdc {
namespace {

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
    auto ring = std::make_shared<RepairRing>(trial % 3, trial * 2 + trial % 2,
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

}  // namespace
}  // namespace tkdc
