// SPDX-License-Identifier: Apache-2.0
// A server is stopped in order amid a check that has opened something. Its idle lanes end at once,
// and all links of a session have one end: the lane with the check keeps them until it is through.
#include "three_services.h"

namespace tkdc {
namespace {

// Counts the packets of all three that follow arm(), and has those from `slow` on take their time.
class SlowAtLast {
 public:
  void arm(int slow) {
    slow_ = slow;
    carried_ = 0;
  }
  void carry() {
    if (carried_++ >= slow_) std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  int carried() const { return carried_; }

 private:
  std::atomic<int> slow_{1 << 30}, carried_{0};
};

// As a server's: one that is aborted takes the session's other ones with it.
class OfOneEnd final : public Link {
 public:
  using All = std::vector<Link*>;
  OfOneEnd(std::unique_ptr<Link> own, std::shared_ptr<All> all, SlowAtLast& packets)
      : own_(std::move(own)), all_(std::move(all)), packets_(packets) {
    all_->push_back(own_.get());
  }
  Result<void> send_pieces(Neighbour to, std::span<const ByteSpan> pieces) override {
    packets_.carry();
    return own_->send_pieces(to, pieces);
  }
  Result<ByteSpan> receive(Neighbour from, int timeout_ms) override {
    return own_->receive(from, timeout_ms);
  }
  Result<Event> wait(int timeout_ms) override { return own_->wait(timeout_ms); }
  void wake() override { own_->wake(); }
  void abort(const std::string& reason) override {
    for (Link* each : *all_) each->abort(reason);
  }
  Counters counters() const override { return own_->counters(); }

 private:
  std::unique_ptr<Link> own_;
  std::shared_ptr<All> all_;
  SlowAtLast& packets_;
};

TEST(Stop, CutsNoOpenedCheckBesideAnIdleLane) {
  constexpr int kStops = 1, kPacketsOfTheLastTicks = 14;
  SlowAtLast of_lane[2];
  ThreeServices e(2, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, nullptr, no_clocks);
  e.leader_last = true;
  e.session_edit = [&](int, Session& session) {
    auto all = std::make_shared<OfOneEnd::All>();
    for (std::size_t k = 0; k < session.lanes.size(); ++k) {
      auto& link = session.lanes[k].link;
      link = std::make_unique<OfOneEnd>(std::move(link), all, of_lane[k]);
    }
  };
  e.restart(2, [](int) {});
  SlowAtLast& packets = of_lane[1];  // lane 0 makes keys
  const KeyRef ref = e.make_key("host/a.test@A.TEST", 18, Bytes(32, 7));
  settled(e);
  const ThreeServices::Job job{TKDC_OP_MAC, ref, 17, {}, some_bytes(40)};
  packets.arm(1 << 30);
  const Bytes expected = e.run(job).output();
  const int all = packets.carried();
  ASSERT_GT(all, kPacketsOfTheLastTicks);
  packets.arm(all - kPacketsOfTheLastTicks);
  const JobName name = e.send(job);
  while (packets.carried() <= all - kPacketsOfTheLastTicks)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  e.service(kStops).stop();
  Answer answer = e.wait(name);
  EXPECT_EQ(answer.status(), TKDC_STATUS_OK);
  EXPECT_EQ(answer.output(), expected);
  e.stop_session();
  for (int p = 0; p < 3; ++p) EXPECT_TRUE(e.lost_checks(p).empty()) << "server " << p;
}

}  // namespace
}  // namespace tkdc
