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

class ConnectionsOfAJob : public testing::TestWithParam<Security> {};

// Of one job's packets each is the last before a cut, in turn.
TEST_P(ConnectionsOfAJob, AreCutAtAnyPacketAndTheJobIsDone) {
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

// Says of one party that it lacks another tick than it does; by how much.
class WrongLack final : public MemoryRing {
 public:
  explicit WrongLack(int by) : by_(by) {}

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    if (from == 1 && !told_[static_cast<std::size_t>(to)].exchange(true)) {
      const std::uint64_t lacks = Reader(packet).u64();
      packet.clear();
      SecretWriter(packet).u64(lacks + static_cast<std::uint64_t>(by_));
    }
    deliver(from, to, std::move(packet));
  }

 private:
  const int by_;
  std::array<std::atomic<bool>, 2> told_{};
};

// One that has not got what its neighbours sent, or says so, gets nothing that is new; one that
// cannot be where it says it is ends the session, and where a check was under way it is counted.
TEST(Connections, ANeighbourIsSentWhatWasSentOrNothing) {
  for (int by : {-1, 1, -3, 3, 1000}) {
    auto sent = std::make_shared<Cutter::Sent>();
    auto ring = std::make_shared<Cutter>(sent);
    Engines e(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, ring);
    KeyRef ref = e.make_key("host/a.test@A.TEST", 18, Bytes(32, 7));
    settled(e);
    const Engines::Job job{TKDC_OP_MAC, ref, 17, {}, some_bytes(40)};
    ring->arm(-1);
    EXPECT_EQ(e.run(job).status(), TKDC_STATUS_OK);
    e.holds = true;
    ring->arm(2 * ring->carried() - 8);  // a check's
    const JobName name = e.send(job);
    e.join();
    e.holds = false;
    e.go_on(std::make_shared<WrongLack>(by));
    Answer answer = e.wait(name);
    for (const JobReply& reply : answer.reply) EXPECT_TRUE(reply.output.empty()) << by;
    e.join();
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(e.engine(p).held(), SessionId{});
      EXPECT_EQ(e.lost_checks(p).size(), 1u) << "party " << p << " by " << by;
    }
    EXPECT_FALSE(sent->differs);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ConnectionsOfAJob,
                         testing::Values(Security::kMalicious, Security::kSemiHonest));

}  // namespace
}  // namespace tkdc
