// SPDX-License-Identifier: Apache-2.0
// What every Link promises, on the memory ring and on TLS alike, and the
// faults that a test can give a ring.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "link/faulty_ring.h"
#include "link/memory_ring.h"
#include "trio.h"

namespace tkdc {
namespace {

using Links = std::array<std::unique_ptr<Link>, 3>;

Links memory_links() {
  auto ring = MemoryRing::create();
  return {ring->link(0), ring->link(1), ring->link(2)};
}

// The meshes must outlive the links: going away, they break them.
Links tls_links(Trio& trio) {
  auto sessions = trio.establish();
  EXPECT_EQ(trio.errors(), "");
  Links links;
  for (int p = 0; p < 3; ++p)
    links[static_cast<std::size_t>(p)] = std::move(sessions[p]->lanes[0].link);
  return links;
}

class LinkTest : public testing::TestWithParam<bool> {
 protected:
  Links make() { return GetParam() ? tls_links(trio_) : memory_links(); }

  Trio trio_{1};
};

INSTANTIATE_TEST_SUITE_P(Kinds, LinkTest, testing::Values(false, true),
                         [](const auto& kind) { return kind.param ? "Tls" : "Memory"; });

TEST_P(LinkTest, RingOfThreeThreads) {
  Links links = make();
  std::vector<std::thread> threads;
  for (std::uint8_t p = 0; p < 3; ++p)
    threads.emplace_back([&links, p] {
      Link& link = *links[p];
      std::uint64_t before = link.counters().packets_sent;
      for (int round = 0; round < 300; ++round) {
        Bytes packet(1 + static_cast<std::size_t>(round) * 17, p);
        ASSERT_TRUE(link.send(Neighbour::kPrev, packet).ok());
        auto got = link.receive(Neighbour::kNext, 5'000);
        ASSERT_TRUE(got.ok()) << got.error().message;
        ASSERT_EQ(got->size(), packet.size());
        ASSERT_EQ((*got)[0], (p + 1) % 3);
      }
      EXPECT_EQ(link.counters().packets_sent - before, 300u);
    });
  for (auto& thread : threads) thread.join();
}

TEST_P(LinkTest, ReceiveTimesOutAndNamesTheParty) {
  Links links = make();
  auto got = links[0]->receive(Neighbour::kPrev, 30);
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().message.find("party 2"), std::string::npos) << got.error().message;
  EXPECT_FALSE(links[0]->receive(Neighbour::kNext, 0).ok());
}

TEST_P(LinkTest, WaitTellsPacketWakeAndTimeout) {
  Links links = make();
  auto timeout = links[0]->wait(10);
  ASSERT_TRUE(timeout.ok());
  EXPECT_EQ(*timeout, Link::Event::kTimeout);
  links[0]->wake();
  links[0]->wake();
  auto wake = links[0]->wait(1'000);
  ASSERT_TRUE(wake.ok());
  EXPECT_EQ(*wake, Link::Event::kWake);
  auto quiet = links[0]->wait(10);
  ASSERT_TRUE(quiet.ok());
  EXPECT_EQ(*quiet, Link::Event::kTimeout) << "two wakes before a wait are one";
  ASSERT_TRUE(links[1]->send(Neighbour::kPrev, Bytes(3, 1)).ok());
  auto packet = links[0]->wait(1'000);
  ASSERT_TRUE(packet.ok());
  EXPECT_EQ(*packet, Link::Event::kPacket);
  EXPECT_TRUE(links[0]->receive(Neighbour::kNext, 0).ok());
}

TEST_P(LinkTest, NoWakeIsLost) {
  Links links = make();
  std::atomic<int> wanted{0}, seen{0};
  std::thread waker([&] {
    for (int i = 0; i < 2'000; ++i) {
      wanted++;
      links[0]->wake();
      while (seen < wanted) std::this_thread::yield();
    }
  });
  while (seen < 2'000) {
    auto event = links[0]->wait(5'000);
    ASSERT_TRUE(event.ok());
    if (*event == Link::Event::kTimeout) {
      ADD_FAILURE() << "lost after " << seen;
      seen = 1 << 30;
      break;
    }
    if (*event == Link::Event::kWake && seen < wanted) seen++;
  }
  waker.join();
}

TEST_P(LinkTest, ANeighbourThatLeavesIsNoticed) {
  Links links = make();
  ASSERT_TRUE(links[1]->send(Neighbour::kPrev, Bytes(3, 7)).ok());
  links[1].reset();
  auto last = links[0]->receive(Neighbour::kNext, 2'000);
  ASSERT_TRUE(last.ok()) << "sent before it left";
  EXPECT_EQ((*last)[0], 7);
  EXPECT_FALSE(links[0]->receive(Neighbour::kNext, 2'000).ok());
  EXPECT_FALSE(links[2]->wait(2'000).ok());
}

TEST_P(LinkTest, PacketsAboveTheLimitAreRefused) {
  Links links = make();
  EXPECT_FALSE(links[0]->send(Neighbour::kNext, Bytes(kMaxPacketBytes + 1)).ok());
}

TEST(FaultyRing, DropsHoldsAndTampers) {
  auto ring = std::make_shared<FaultyRing>();
  Links links{ring->link(0), ring->link(1), ring->link(2)};
  ring->fault = [](int from, Neighbour, SecretVector& packet) {
    if (packet[0] == 1) return FaultyRing::Action::kDrop;
    if (packet[0] == 2) return FaultyRing::Action::kHold;
    if (from == 0) packet[1] ^= 0x80;
    return FaultyRing::Action::kDeliver;
  };
  for (std::uint8_t kind = 1; kind <= 3; ++kind)
    ASSERT_TRUE(links[0]->send(Neighbour::kNext, Bytes{kind, 0}).ok());
  auto got = links[1]->receive(Neighbour::kPrev, 0);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(Bytes(got->begin(), got->end()), (Bytes{3, 0x80}));
  EXPECT_FALSE(links[1]->receive(Neighbour::kPrev, 0).ok());
  ring->release_held();
  got = links[1]->receive(Neighbour::kPrev, 0);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ((*got)[0], 2);
}

TEST(LinkBreaker, EndsEveryCall) {
  Trio trio(1);
  auto sessions = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  Link& link = *sessions[0]->lanes[0].link;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    trio.mesh(0).stop();
  });
  long long before = monotonic_ms();
  auto got = link.receive(Neighbour::kNext, 10'000);
  EXPECT_LT(monotonic_ms() - before, 5'000);
  stopper.join();
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().message.find("stopping"), std::string::npos);
  EXPECT_FALSE(link.send(Neighbour::kNext, Bytes(1)).ok());
  EXPECT_FALSE(link.wait(10).ok());
}

}  // namespace
}  // namespace tkdc
