// SPDX-License-Identifier: Apache-2.0
// A server that changes what the lane itself says (manifests, statements of admission,
// verdicts, votes on a store): no wrong output, no crash, no hang, and where it
// tells its neighbours different things, everybody stops.
#include <atomic>

#include "lane_packet.h"
#include "three_services.h"
#include "two_times_leader.h"

namespace tkdc {
namespace {

// Changes one octet of one packet of party `liar` once it is armed.
class ControlLiar final : public MemoryRing {
 public:
  int liar = 0;
  bool to_next = true;
  int packet = 0;         // counted from when it is armed
  std::size_t octet = 0;  // of the part behind the tick's number
  std::atomic<bool> armed{false};
  std::atomic<bool> lied{false};

 protected:
  void carry(int from, Neighbour to, SecretVector packet_sent) override {
    constexpr std::size_t kNumber = 4;
    const bool side = (to == Neighbour::kNext) == to_next;
    if (armed && from == liar && side && packet_sent.size() > kNumber && sent_++ == packet) {
      packet_sent[kNumber + octet % (packet_sent.size() - kNumber)] ^= 0x04;
      lied = true;
    }
    deliver(from, to, std::move(packet_sent));
  }

 private:
  std::atomic<int> sent_{0};
};

TEST(Control, NoChangedOctetGivesAWrongOutput) {
  std::mt19937_64 rng(12);
  int failed = 0;
  for (int trial = 0; trial < 24; ++trial) {
    auto ring = std::make_shared<ControlLiar>();
    ring->liar = trial % 3;
    ring->to_next = rng() % 2 == 0;
    ring->packet = static_cast<int>(rng() % 5);
    ring->octet = rng() % 160;
    ThreeServices s(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, ring);
    KeyRef key = s.make_key("host/a.test@A.TEST", 18, {});
    const ThreeServices::Job mac = {TKDC_OP_MAC, key, 17, {}, some_bytes(40)};
    const Bytes right = s.run(mac).output();
    ring->armed = true;
    auto soon = [](int, JobRequest& request) { request.deadline_ms = 400; };
    const JobName name = s.send(mac, soon);
    for (int k = 0; k < 1000 && s.answers_to(name) < 3; ++k) {
      for (int p = 0; p < 3; ++p) s.service(p).expire();  // what was not admitted, as a server does
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    Answer answer = s.wait(name);
    // All three answer with shares of the right value, or not all answer with one.
    bool all = true;
    for (const JobReply& reply : answer.reply) all &= reply.status == TKDC_STATUS_OK;
    EXPECT_TRUE(!all || answer.output() == right);
    failed += all ? 0 : 1;
  }
  EXPECT_GT(failed, 0);
}

// After its own store prepared the record, the liar says so to one neighbour only.
class TwoFacedVoter final : public MemoryRing {
 public:
  std::atomic<bool> armed{false};

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    if (from == 1 && to == Neighbour::kNext && armed.exchange(false)) packet.back() ^= 1;
    deliver(from, to, std::move(packet));
  }
};

// Drawn, and bound to nobody yet.
KeyRef staged_key(ThreeServices& s) {
  KeyRef ref;
  ref.installation = kInstallation;
  ref.id[0] = 9;
  ref.kvno = 1;
  ref.enctype = 18;
  EXPECT_EQ(s.run({TKDC_OP_STAGE, ref, 0, {TKDC_ORIGIN_DRAWN}, {}, AgentRole::kAdmin}).status(),
            TKDC_STATUS_OK);
  return ref;
}

TEST(Control, VotesOnAStoreThatDifferLatch) {
  auto ring = std::make_shared<TwoFacedVoter>();
  ThreeServices s(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, ring);
  s.disk(1).prepared_hook = [&] { ring->armed = true; };  // the vote is the next that it sends
  KeyRef ref = staged_key(s);
  ref.principal = digest_of("host/a@R");
  Answer answer = s.run(ThreeServices::bind_job(ref, "host/a@R"));
  for (const JobReply& reply : answer.reply) EXPECT_NE(reply.status, TKDC_STATUS_OK);
  s.stop_session();
  int latched = 0;
  for (int p = 0; p < 3; ++p) {
    EXPECT_FALSE(*s.store(p).committed(ref.id)) << p;
    if (auto deviation = s.service(p).deviation()) {
      ++latched;
      EXPECT_NE(deviation->find("what a store did"), std::string::npos) << *deviation;
      EXPECT_NE(deviation->find("lane 0, cohorts up to"), std::string::npos) << *deviation;
      for (const char* blame :
           {"party 0", "party 1", "party 2", "server 0", "server 1", "server 2"})
        EXPECT_EQ(deviation->find(blame), std::string::npos) << *deviation;
    }
  }
  // All three see it in the same tick, but the first to end takes the others' links away:
  // one that is latched stops all.
  EXPECT_GE(latched, 1);
}

class ManagementToldDifferently : public testing::TestWithParam<tkdc_wire_op> {};

TEST_P(ManagementToldDifferently, ChangesAndYieldsNothing) {
  auto ring = std::make_shared<test::TwoTimesLeader>();
  ThreeServices s(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, ring);
  const KeyRef ref = GetParam() == TKDC_OP_DESTROY ? s.make_key("host/a@R", 18, {}) : staged_key(s);
  ring->armed = true;
  Answer answer = s.run({GetParam(), ref, 0, {}, {}, AgentRole::kAdmin});
  EXPECT_FALSE(ring->armed);
  for (const JobReply& reply : answer.reply) {
    EXPECT_NE(reply.status, TKDC_STATUS_OK);
    EXPECT_TRUE(reply.output.empty());
  }
  s.stop_session();
  int latched = 0;
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(*s.store(p).committed(ref.id), GetParam() == TKDC_OP_DESTROY) << p;
    if (auto deviation = s.service(p).deviation()) {
      ++latched;
      EXPECT_NE(deviation->find("which jobs to run"), std::string::npos) << *deviation;
    }
  }
  EXPECT_GE(latched, 1);
}

// Party 1 goes away instead of sending packet `last`, counted from when it is armed.
class Deserter final : public MemoryRing {
 public:
  std::atomic<int> last{-1}, sent{0};
  std::atomic<bool> armed{false};

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    if (from == 1 && armed && sent++ == last) return close("party 1 closed the link");
    deliver(from, to, std::move(packet));
  }
};

struct Broken {
  int packets = 0;  // of party 1, for one job
  std::uint64_t checks = 0;
};

Broken when_party_1_stops_at(int packet) {
  auto ring = std::make_shared<Deserter>();
  ring->last = packet;
  ThreeServices s(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, ring);
  KeyRef key = s.make_key("host/a.test@A.TEST", 18, {});
  settled(s);
  ring->armed = true;
  s.run({TKDC_OP_MAC, key, 17, {}, some_bytes(40)});
  Broken broken;
  broken.packets = ring->sent;
  s.stop_session();
  for (int p = 0; p < 3; ++p) {
    EXPECT_FALSE(s.service(p).deviation());
    broken.checks += s.lost_checks(p).size();
  }
  return broken;
}

// The clocks of the three are their own, and a lane at work has other ticks: heads are compared at
// all three whoever said one.
TEST(Control, HeadsOfUnequalTimesEndNoSession) {
  ThreeServices s(1, 1, std::uint64_t{1} << 38, 40, Security::kMalicious, nullptr,
                  [](JobServiceOptions& options) {
                    options.audit_head_every = std::chrono::milliseconds(40 + 30 * options.party);
                  });
  KeyRef key = s.make_key("host/a.test@A.TEST", 18, {});
  auto all_heard = [&] {
    for (int p = 0; p < 3; ++p)
      if (s.heard(p, (p + 1) % 3).size() <= 2) return false;
    return true;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!all_heard() && std::chrono::steady_clock::now() < deadline)
    ASSERT_EQ(s.run({TKDC_OP_MAC, key, 17, {}, some_bytes(200)}).status(), TKDC_STATUS_OK);
  EXPECT_TRUE(all_heard());
  for (int p = 0; p < 3; ++p) EXPECT_TRUE(s.service(p).status().session_up) << s.ended(p);
}

TEST(Control, SessionsLostInACheckAreCounted) {
  const Broken none = when_party_1_stops_at(-1);
  EXPECT_EQ(none.checks, 0u);
  EXPECT_EQ(when_party_1_stops_at(none.packets / 2).checks, 0u) << "nothing is verified yet";
  EXPECT_GT(when_party_1_stops_at(none.packets - 8).checks, 0u) << "the last rounds are a check's";
}

INSTANTIATE_TEST_SUITE_P(Operations, ManagementToldDifferently,
                         testing::Values(TKDC_OP_EXPORT, TKDC_OP_DESTROY));

}  // namespace
}  // namespace tkdc
