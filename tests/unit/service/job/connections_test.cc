// SPDX-License-Identifier: Apache-2.0
// A session outlives its connections: they are cut at any packet, the three connect anew, and
// every job ends with the octets that it would have had. A check that has opened X and Y is
// finished with what was sent, octet for octet.
#include "session/refusal.h"
#include "three_services.h"

namespace tkdc {
namespace {

// What was sent by whom, to which side, in which tick, over all connections of a session.
struct Sent {
  std::mutex mutex;
  std::map<std::tuple<int, Neighbour, std::uint32_t>, Bytes> packets;
  // Sent again: with other octets, and at all. Lanes' threads count.
  std::atomic<int> differs{0}, again{0};

  void note(int from, Neighbour to, const SecretVector& packet) {
    if (packet.size() == sizeof(std::uint64_t)) return;  // what go_on() says
    const std::uint32_t tick = Reader(packet).u32();
    std::lock_guard lock(mutex);
    auto [at, fresh] = packets.try_emplace({from, to, tick}, packet.begin(), packet.end());
    again += fresh ? 0 : 1;
    differs += !fresh && !std::ranges::equal(at->second, packet) ? 1 : 0;
  }
};

// Cuts all connections instead of carrying packet `last` of those that follow arm(), or the first
// one after it that goes to `party`.
class Cutter final : public MemoryRing {
 public:
  static constexpr int kAny = -1;

  explicit Cutter(std::shared_ptr<Sent> sent) : sent_(std::move(sent)) {}
  void arm(int last, int party = kAny) {
    last_ = last;
    party_ = party;
    armed_ = true;
  }
  int carried() const { return carried_; }

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    sent_->note(from, to, packet);
    if (armed_ && is_last(carried_++, (from + (to == Neighbour::kNext ? 1 : 2)) % 3))
      return close("the network is gone");
    deliver(from, to, std::move(packet));
  }

 private:
  bool is_last(int number, int to) const {
    return party_ == kAny ? number == last_ : number >= last_ && to == party_;
  }

  const std::shared_ptr<Sent> sent_;
  std::atomic<int> party_{kAny};
  std::atomic<bool> armed_{false};
  std::atomic<int> carried_{0}, last_{-1};
};

// With one key, on this network.
struct OnRing : ThreeServices {
  explicit OnRing(std::shared_ptr<MemoryRing> ring, Security security = Security::kMalicious)
      : ThreeServices(1, 1, std::uint64_t{1} << 38, 0, security, std::move(ring), no_clocks) {
    leader_last = true;
    ref = make_key("host/a.test@A.TEST", 18, Bytes(32, 7));
    settled(*this);
  }
  KeyRef ref;
};

class ConnectionsOfAJob : public testing::TestWithParam<Security> {};

// Of one job's packets each is the last before a cut, in turn.
TEST_P(ConnectionsOfAJob, AreCutAtAnyPacketAndTheJobIsDone) {
  auto sent = std::make_shared<Sent>();
  auto ring = std::make_shared<Cutter>(sent);
  OnRing e(ring, GetParam());
  const ThreeServices::Job job{TKDC_OP_MAC, e.ref, 17, {}, some_bytes(40)};
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
  EXPECT_EQ(sent->differs.load(), 0) << "a packet was sent again with other octets";
  EXPECT_GT(sent->again.load(), 0);
  for (int p = 0; p < 3; ++p) {
    EXPECT_FALSE(e.service(p).deviation());
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
    auto sent = std::make_shared<Sent>();
    auto ring = std::make_shared<Cutter>(sent);
    OnRing e(ring);
    const ThreeServices::Job job{TKDC_OP_MAC, e.ref, 17, {}, some_bytes(40)};
    ring->arm(-1);
    EXPECT_EQ(e.run(job).status(), TKDC_STATUS_OK);
    e.holds = true;
    // Of a check's two ticks before its last one, so that party 1 lacks something for certain.
    ring->arm(2 * ring->carried() - 14, 1);
    const JobName name = e.send(job);
    e.join();
    e.holds = false;
    e.go_on(std::make_shared<WrongLack>(by));
    Answer answer = e.wait(name);
    for (const JobReply& reply : answer.reply) EXPECT_TRUE(reply.output.empty()) << by;
    e.join();
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(e.service(p).held(), SessionId{});
      EXPECT_EQ(e.lost_checks(p).size(), 1u) << "party " << p << " by " << by;
    }
    EXPECT_EQ(sent->differs.load(), 0);
  }
}

// Of party 1's handshake the last part fails, after the two others were through: it says so on each
// connection.
class NotThrough final : public MemoryRing {
 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    if (from != 1) return deliver(from, to, std::move(packet));
    const Bytes why = encode_refusal("the connection to party 2 is lost");
    deliver(from, to, SecretVector(why.begin(), why.end()));
  }
};

TEST(Connections, ANeighbourThatIsNotThroughIsMetAnew) {
  auto ring = std::make_shared<Cutter>(std::make_shared<Sent>());
  OnRing e(ring);
  const ThreeServices::Job job{TKDC_OP_MAC, e.ref, 17, {}, some_bytes(40)};
  ring->arm(-1);
  const Bytes expected = e.run(job).output();
  e.holds = true;
  ring->arm(2 * ring->carried() - 8);
  const JobName name = e.send(job);
  e.join();
  e.go_on(std::make_shared<NotThrough>());
  e.join();
  for (int p = 0; p < 3; ++p) {
    EXPECT_NE(e.service(p).held(), SessionId{}) << "party " << p << ": " << e.ended(p);
    EXPECT_TRUE(e.lost_checks(p).empty());
  }
  e.go_on();
  EXPECT_EQ(e.wait(name).output(), expected);
  e.holds = false;
}

// Each of the six directions goes dead after a number of packets of its own, and some time later
// all of it is cut; also while the three tell each other which ticks they lack.
class Dying final : public MemoryRing {
 public:
  explicit Dying(std::shared_ptr<Sent> sent) : sent_(std::move(sent)) {
    for (auto& one : left_) one = 1 << 30;
  }
  void die(std::mt19937& rng, int about) {
    for (auto& one : left_) one = static_cast<int>(rng() % static_cast<unsigned>(about));
  }

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    sent_->note(from, to, packet);
    const auto side = static_cast<std::size_t>(2 * from) + static_cast<std::size_t>(to);
    if (left_[side]-- <= 0) {
      if (dead_++ >= 3) close("the network is gone");
      return;
    }
    deliver(from, to, std::move(packet));
  }

 private:
  const std::shared_ptr<Sent> sent_;
  std::array<std::atomic<int>, 6> left_;
  std::atomic<int> dead_{0};
};

// Jobs of all kinds over networks that die anyhow.
TEST(Connections, DieInAnyOrderAndEachJobIsAnsweredOnce) {
  const char* more = std::getenv("TKDC_SEEDS");
  for (unsigned seed = 1; seed <= (more != nullptr ? std::stoul(more) : 1); ++seed) {
    std::mt19937 rng(seed);
    auto sent = std::make_shared<Sent>();
    auto ring = std::make_shared<Dying>(sent);
    ThreeServices e(1, 1, std::uint64_t{1} << 38, seed % 2 ? 50 : 0, Security::kMalicious, ring,
                    [&](JobServiceOptions& options) {
                      options.protocols = rep3_offer(seed % 3 == 0 ? 64 : 0);
                    });
    KeyRef ref = e.make_key("host/a.test@A.TEST", 18, Bytes(32, 7));
    KeyRef own = e.make_key("krbtgt/A.TEST@A.TEST", 18, {});
    settled(e);
    e.holds = true;
    std::vector<JobName> names;
    int reconnections = 0;
    ring->die(rng, 400);
    for (int k = 0; k < 12; ++k) {
      names.push_back(e.send({TKDC_OP_MAC, ref, 17, {}, some_bytes(40)}));
      names.push_back(e.send({TKDC_OP_SEAL, own, 2, {}, some_bytes(200)}));
      names.push_back(e.send({TKDC_OP_OPEN, ref, 2, {}, some_bytes(100)}));
    }
    const auto done = [&] {
      for (const JobName& name : names)
        if (e.answers_to(name) < 3) return false;
      return true;
    };
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done() && std::chrono::steady_clock::now() < until) {
      for (int k = 0;
           k < 400 && e.service(0).status().session_up && e.service(1).status().session_up &&
           e.service(2).status().session_up && !done();
           ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (done()) break;
      ring->close("the network is gone");
      e.join();
      for (int p = 0; p < 3; ++p) {
        ASSERT_FALSE(e.service(p).deviation()) << *e.service(p).deviation();
        ASSERT_NE(e.service(p).held(), SessionId{}) << "seed " << seed << ": " << e.ended(p);
        e.service(p).expire();
      }
      ring = std::make_shared<Dying>(sent);
      ring->die(rng, reconnections % 3 == 0 ? 3 : 600);
      ++reconnections;
      e.go_on(ring);
    }
    EXPECT_TRUE(done());
    for (const JobName& name : names) EXPECT_EQ(e.answers_to(name), 3);
    EXPECT_EQ(sent->differs.load(), 0);
    EXPECT_GT(reconnections, 0);
    EXPECT_GT(sent->again.load(), 0);
    for (int p = 0; p < 3; ++p) EXPECT_TRUE(e.lost_checks(p).empty());
    ring->close("over");
    e.join();
    e.holds = false;
    for (int p = 0; p < 3; ++p) e.service(p).give_up(std::nullopt);
  }
}

// Jobs whose deadline passes while the session is held, submitted while it is held, given up,
// with expire() from another thread all the time.
TEST(Connections, AJobIsAnsweredOnceWhateverBecomesOfItsSession) {
  std::mt19937 rng(5);
  auto sent = std::make_shared<Sent>();
  auto ring = std::make_shared<Dying>(sent);
  OnRing e(ring);
  e.holds = true;
  std::atomic<bool> over{false};
  std::thread expirer([&] {
    while (!over) {
      for (int p = 0; p < 3; ++p) e.service(p).expire();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::vector<JobName> names;
  for (int round = 0; round < 25; ++round) {
    ring->die(rng, 500);
    for (int k = 0; k < 6; ++k)
      names.push_back(e.send({TKDC_OP_MAC, e.ref, 17, {}, some_bytes(40)}, [&](int, JobRequest& r) {
        r.deadline_ms = k < 3 ? 40 + 10u * static_cast<unsigned>(k) : 50'000;
      }));
    std::this_thread::sleep_for(std::chrono::milliseconds(rng() % 60));
    ring->close("the network is gone");
    e.join();
    names.push_back(e.send({TKDC_OP_MAC, e.ref, 17, {}, some_bytes(40)}));
    std::this_thread::sleep_for(std::chrono::milliseconds(rng() % 60));
    ring = std::make_shared<Dying>(sent);
    if (round % 5 == 4) {
      for (int p = 0; p < 3; ++p) e.service(p).give_up(std::nullopt);
      sent->packets.clear();
      e.start_session(ring);
    } else {
      e.go_on(ring);
    }
  }
  for (int k = 0; k < 9000; ++k) {  // longer than any deadline
    bool all = true;
    for (const JobName& name : names) all = all && e.answers_to(name) >= 3;
    if (all) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ring->close("over");
  e.join();
  e.holds = false;
  for (int p = 0; p < 3; ++p) e.service(p).give_up(std::nullopt);
  over = true;
  expirer.join();
  for (const JobName& name : names) EXPECT_EQ(e.answers_to(name), 3);
  EXPECT_EQ(sent->differs.load(), 0);
}

// The longest packet.
class Measuring final : public MemoryRing {
 public:
  std::atomic<std::size_t> most{0};

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    most = std::max(most.load(), packet.size());
    deliver(from, to, std::move(packet));
  }
};

// A line that cannot carry a packet would be tried for ever, since the session goes on.
TEST(Connections, AFloodOfLargeJobsMakesNoPacketThatALineCannotCarry) {
  auto ring = std::make_shared<Measuring>();
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kSemiHonest, ring);
  KeyRef own = e.make_key("krbtgt/A.TEST@A.TEST", 18, {});
  const Bytes ticket = some_bytes(16 * (64 * 64 - 2));
  std::vector<JobName> names;
  const auto patient = [](int, JobRequest& request) { request.deadline_ms = 250'000; };
  for (int k = 0; k < 100; ++k)
    names.push_back(e.send({TKDC_OP_SEAL, own, 2, {}, ticket}, patient));
  for (const JobName& name : names) EXPECT_EQ(e.wait(name).status(), TKDC_STATUS_OK);
  EXPECT_LT(ring->most, 16u << 20);
  EXPECT_GT(ring->most, 2u << 20) << "no flood";
}

INSTANTIATE_TEST_SUITE_P(Modes, ConnectionsOfAJob,
                         testing::Values(Security::kMalicious, Security::kSemiHonest));

}  // namespace
}  // namespace tkdc
