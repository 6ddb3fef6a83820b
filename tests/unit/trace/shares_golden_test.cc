// SPDX-License-Identifier: Apache-2.0
// Golden traces of the pages of an audit, a dealing, a refresh and a repair, in whole lanes: whose
// packets of which sizes follow each other (session/wire-format-later.txt, docs/adr/0023). What a
// page says beside its sizes is encoded with its reader, which the tests of these works hold to it.
#include "golden.h"
#include "service/job/shares_repaired.h"

namespace tkdc {
namespace {

// Sides and sizes of what carries work. A tick in which a server waits for its disk or for the
// others carries none, and how many there are depends on the machine.
class WorkRing final : public MemoryRing {
 public:
  // Between these two, of one work.
  void begin() {
    const std::scoped_lock lock(mutex_);
    for (auto& of_one : sizes_)
      for (auto& of_side : of_one) of_side.clear();
  }
  test::Hashes end() {
    const std::scoped_lock lock(mutex_);
    counted_ = 0;
    test::Hashes hashes;
    for (std::size_t p = 0; p < 3; ++p)
      for (const std::vector<std::size_t>& of_side : sizes_[p]) {
        const std::size_t idle = of_side.empty() ? 0 : *std::ranges::min_element(of_side);
        for (const std::size_t size : of_side) {
          if (size == idle) continue;
          ++counted_;
          Bytes octets;
          Writer(octets).u64(size);
          hashes[p].add(octets);
        }
      }
    EXPECT_GT(counted_, 6 * 3) << "nothing was seen of this work";
    return hashes;
  }

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    {
      const std::scoped_lock lock(mutex_);
      sizes_[static_cast<std::size_t>(from)][to == Neighbour::kNext].push_back(packet.size());
    }
    deliver(from, to, std::move(packet));
  }

 private:
  std::mutex mutex_;
  int counted_ = 0;
  std::array<std::array<std::vector<std::size_t>, 2>, 3> sizes_;
};

class SharesGolden : public SharesRepair {
 protected:
  void expect_later(const std::string& name, test::Hashes hashes) {
    test::Traces now;
    test::add_trace(now, name, "later", {hashes[0].hex(), hashes[1].hex(), hashes[2].hex()});
    test::expect_golden("later", now);
  }
  std::shared_ptr<WorkRing> ring_ = std::make_shared<WorkRing>();
};

TEST_F(SharesGolden, DealtAndAudited) {
  start();
  make_keys(3);
  e_->ring_of_next_session(ring_);
  new_session(true);
  for (const auto& [name, task] : {std::pair("pages-dealt", ShareTask::kDeal),
                                   std::pair("pages-audited", ShareTask::kAudit)}) {
    settled(*e_);
    ring_->begin();
    EXPECT_EQ(work(task).trouble, "");
    settled(*e_);
    expect_later(name, ring_->end());
  }
}

// What a key's making adds to the octets of management_golden_test.cc: admission, and its MACs.
TEST_F(SharesGolden, AKeyIsMadeAndRemoved) {
  start();
  e_->leader_last = true;
  e_->ring_of_next_session(ring_);
  new_session(true);
  settled(*e_);
  ring_->begin();
  const KeyRef key = e_->make_key("alice@A.TEST", 18, Bytes(32, 1));
  EXPECT_EQ(e_->run({TKDC_OP_DESTROY, key, 0, {}, {}, AgentRole::kAdmin}).status(), TKDC_STATUS_OK);
  settled(*e_);
  expect_later("management-lane", ring_->end());
}

TEST_F(SharesGolden, Refreshed) {
  start();
  new_session(true);
  make_keys(3);
  settled(*e_);
  EXPECT_EQ(try_refresh(0, ring_).trouble, "");
  expect_later("pages-refreshed", ring_->end());
}

TEST_F(SharesGolden, Repaired) {
  start_with_keys();
  begin_repair(ring_);
  EXPECT_EQ(ended().trouble, "");
  expect_later("pages-repaired", ring_->end());
}

}  // namespace
}  // namespace tkdc
