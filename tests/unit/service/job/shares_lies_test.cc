// SPDX-License-Identifier: Apache-2.0
// A server that changes one octet of what it sends while MACs are dealt and audited: whatever the
// others store of it proves what they hold.
#include <atomic>

#include "service/job/features.h"
#include "three_services.h"

namespace tkdc {
namespace {

class SharesLiar final : public MemoryRing {
 public:
  explicit SharesLiar(int trial)
      : liar_(trial % 3), to_next_(trial % 2 == 0), packet_(trial / 3 % 14),
        octet_(static_cast<std::size_t>(trial) * 131) {}
  std::atomic<bool> armed{false}, lied{false};

 protected:
  void carry(int from, Neighbour to, SecretVector sent) override {
    constexpr std::size_t kNumber = 4;
    const bool side = (to == Neighbour::kNext) == to_next_;
    if (armed && from == liar_ && side && sent.size() > kNumber && sent_++ == packet_) {
      sent[kNumber + octet_ % (sent.size() - kNumber)] ^= 0x04;
      lied = true;
    }
    deliver(from, to, std::move(sent));
  }

 private:
  const int liar_;
  const bool to_next_;
  const int packet_;
  const std::size_t octet_;
  std::atomic<int> sent_{0};
};

ShareUpkeepStatus work(ThreeServices& e, ShareTask task, int waits_ms) {
  for (int waited = 0; waited < waits_ms; waited += 10) {
    const JobServiceStatus now = e.service(0).status();
    if (now.session_up && now.shares.possible) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::uint64_t before = e.service(0).status().shares.finished;
  e.service(0).ask_shares(task);
  for (int waited = 0; waited < waits_ms; waited += 10) {
    const JobServiceStatus now = e.service(0).status();
    if (now.shares.finished != before || !now.session_up) return now.shares;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return e.service(0).status().shares;
}

TEST(SharesUnderALie, WhatIsStoredProvesWhatIsHeld) {
  int lies = 0, found = 0;
  for (int trial = 0; trial < 42; ++trial) {
    auto ring = std::make_shared<SharesLiar>(trial);
    ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious);
    e.make_key("alice@A.TEST", 18, some_bytes(32));
    e.make_key("bob@A.TEST", 18, some_bytes(32));
    e.stop_session();
    for (int p = 0; p < 3; ++p) EXPECT_EQ(e.store(p).macs()->rows(), 0u);
    e.session_edit = [](int, Session& session) { session.features = {kShareMacs}; };
    e.restart(2, [](int) {});
    e.close_links("a session with a liar follows");
    e.join();
    e.start_session(ring);
    ring->armed = true;
    work(e, ShareTask::kDeal, 10'000);
    ring->armed = false;
    lies += ring->lied ? 1 : 0;
    ring->close("the liar is gone");
    e.join();
    bool alarmed = false;
    for (int p = 0; p < 3; ++p)
      alarmed |= e.service(p).status().share_alarms > 0 || e.service(p).deviation().has_value();
    found += alarmed ? 1 : 0;
    // Honest from here on. Who was left behind shows; nobody's proof fails.
    e.start_session(nullptr);
    e.restart(9, [](int) {});
    const ShareUpkeepStatus audited = work(e, ShareTask::kAudit, 30'000);
    EXPECT_EQ(audited.trouble, "") << trial;
    for (const std::string& alarm : e.service(0).status().share_alarms_named)
      EXPECT_EQ(alarm.find("proves it"), std::string::npos) << trial << ": " << alarm;
    work(e, ShareTask::kDeal, 30'000);
    const ShareUpkeepStatus after = work(e, ShareTask::kAudit, 30'000);
    EXPECT_EQ(after.audited, 2u) << trial;
    EXPECT_EQ(after.failed, 0u) << trial;
    e.stop_session();
  }
  // The control: there were lies, and honest servers saw most of them.
  EXPECT_GT(lies, 30);
  EXPECT_GT(found, lies / 3);
}

}  // namespace
}  // namespace tkdc
