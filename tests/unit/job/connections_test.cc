// SPDX-License-Identifier: Apache-2.0
// A session outlives its connections: they are cut at any packet, the three connect anew, and
// every job ends with the octets that it would have had. A check that has opened X and Y is
// finished with what was sent, octet for octet.
#include "engines.h"

namespace tkdc {
namespace {

// Cuts all connections instead of carrying packet `last` of those that follow arm().
class Cutter final : public MemoryRing {
 public:
  // What was sent by whom, to which side, in which tick, over all connections.
  struct Sent {
    std::mutex mutex;
    std::map<std::tuple<int, Neighbour, std::uint32_t>, Bytes> packets;
    bool differs = false;  // one was sent again with other octets
  };

  explicit Cutter(std::shared_ptr<Sent> sent) : sent_(std::move(sent)) {}
  void arm(int last) {
    last_ = last;
    armed_ = true;
  }
  int carried() const { return carried_; }

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    note(from, to, packet);
    if (armed_ && carried_++ == last_) return close("the network is gone");
    deliver(from, to, std::move(packet));
  }

 private:
  void note(int from, Neighbour to, const SecretVector& packet) {
    Reader in(packet);
    const std::uint32_t tick = in.u32();
    if (packet.size() == sizeof(std::uint64_t)) return;  // what go_on() says
    std::lock_guard lock(sent_->mutex);
    auto [at, fresh] = sent_->packets.try_emplace({from, to, tick}, packet.begin(), packet.end());
    sent_->differs |= !fresh && !std::ranges::equal(at->second, packet);
  }

  const std::shared_ptr<Sent> sent_;
  std::atomic<bool> armed_{false};
  std::atomic<int> carried_{0}, last_{-1};
};

class Connections : public testing::TestWithParam<Security> {};

// Of one job's packets each is the last before a cut, in turn.
TEST_P(Connections, AreCutAtAnyPacketAndTheJobIsDone) {
  auto sent = std::make_shared<Cutter::Sent>();
  auto ring = std::make_shared<Cutter>(sent);
  Engines e(1, 1, std::uint64_t{1} << 38, 0, GetParam(), ring);
  const Bytes key(32, 7), input = some_bytes(40);
  KeyRef ref = e.make_key("host/a.test@A.TEST", 18, key);
  const Engines::Job job{TKDC_OP_MAC, ref, 17, {}, input};
  settled(e);
  ring->arm(-1);
  const Bytes expected = e.run(job).output();
  const int packets = ring->carried();
  e.holds = true;
  for (int at = 0; at < packets; at += 1 + packets / 120) {
    ring->arm(ring->carried() + at);
    const JobName name = e.send(job);
    e.join();
    ring = std::make_shared<Cutter>(sent);
    e.go_on(ring);
    ring->arm(-1);
    Answer answer = e.wait(name);
    EXPECT_EQ(answer.status(), TKDC_STATUS_OK) << "cut at packet " << at;
    EXPECT_EQ(answer.output(), expected) << "cut at packet " << at;
  }
  EXPECT_FALSE(sent->differs) << "a packet was sent again with other octets";
  for (int p = 0; p < 3; ++p) {
    EXPECT_FALSE(e.engine(p).deviation());
    EXPECT_TRUE(e.lost_checks(p).empty());
  }
  e.holds = false;
}

INSTANTIATE_TEST_SUITE_P(Modes, Connections,
                         testing::Values(Security::kMalicious, Security::kSemiHonest));

}  // namespace
}  // namespace tkdc
