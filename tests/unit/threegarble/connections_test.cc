// SPDX-License-Identifier: Apache-2.0
// Connections that are cut at each packet of a job, its admission included, and made anew: the job
// ends as if nothing had been, every packet that is sent again has the same octets, no instance is
// encoded twice, and the handshake in between finds no difference.
#include <atomic>
#include <barrier>
#include <mutex>
#include <thread>

#include "lane/ticker.h"
#include "link/memory_ring.h"
#include "trio.h"

namespace tkdc::threegarble {
namespace {

// What was sent by whom, to which side, in which tick.
struct Sent {
  std::mutex mutex;
  std::map<std::tuple<int, Neighbour, std::uint32_t>, SecretVector> packets;
  int again = 0, other = 0;

  void note(int from, Neighbour to, const SecretVector& packet) {
    if (packet.size() == sizeof(std::uint64_t)) return;  // what go_on() says
    const std::lock_guard lock(mutex);
    const auto [at, fresh] = packets.try_emplace({from, to, Reader(packet).u32()}, packet);
    again += fresh ? 0 : 1;
    other += !fresh && at->second != packet ? 1 : 0;
  }
};

class Cutter final : public MemoryRing {
 public:
  Cutter(Sent& sent, int last) : sent_(sent), last_(last) {}

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    sent_.note(from, to, packet);
    if (carried_++ == last_) return close("the network is gone");
    deliver(from, to, std::move(packet));
  }

 private:
  Sent& sent_;
  const int last_;
  std::atomic<int> carried_{0};
};

// One party: until its connections are gone, and on over the next ones.
Task<void> keep(Trio& trio, const Shape& shape, int p, SharedBytes input) {
  auto job = co_await admit(*trio.lanes.lane[p], 0, JobTag(), std::move(input));
  if (!job) co_return;
  trio.outcomes[static_cast<std::size_t>(p)] =
      co_await run(trio.side(p), shape, std::move(*trio.instances[p]), std::move(*job));
}

// As a handshake compares, whether or not the session goes on.
bool courses_contradict(const Trio& trio) {
  const auto tail = [&](int p) { return trio.lanes.lane[p]->course().tail(); };
  return contradict(tail(0), tail(1)) || contradict(tail(1), tail(2)) ||
         contradict(tail(2), tail(0));
}

TEST(Connections, AreCutAtAnyPacketAndTheJobIsDone) {
  const circuit::Circuit circuit = small_circuit();
  const Shape shape = shape_for(circuit);
  constexpr int kTimeoutMs = 5'000, kPackets = 30;  // five ticks of six
  int again = 0;
  for (int cut = 0; cut < kPackets; ++cut) {
    Trio trio(static_cast<std::uint64_t>(cut));
    const auto n = static_cast<std::uint64_t>(cut % 3);
    ASSERT_TRUE(trio.prepare(shape, n));
    const Bytes input = random_octets(2);
    const auto inputs = trio.lanes.share(input);
    for (auto& lane : trio.lanes.lane) lane->course().note(Course::Kind::kSession, {Bytes{1}});
    Sent sent;
    const auto first = std::make_shared<Cutter>(sent, cut);
    const auto second = std::make_shared<Cutter>(sent, -1);
    std::unique_ptr<Link> links[2][3];
    for (int p = 0; p < 3; ++p) links[0][p] = first->link(p), links[1][p] = second->link(p);
    std::atomic<int> contradictions{0};
    std::barrier all_stopped(3, [&]() noexcept { contradictions += courses_contradict(trio); });
    {
      std::vector<std::jthread> threads;
      for (int p = 0; p < 3; ++p)
        threads.emplace_back([&, p] {
          Lane& lane = *trio.lanes.lane[p];
          Ticker ticker(lane, *links[0][p]);
          lane.spawn(keep(trio, shape, p, inputs[static_cast<std::size_t>(p)]));
          const auto ran = ticker.run(kTimeoutMs);
          if (!ran) {
            EXPECT_TRUE(ticker.failure() && ticker.failure()->connection) << ran.error().message;
          }
          all_stopped.arrive_and_wait();
          EXPECT_TRUE(ticker.go_on(*links[1][p], kTimeoutMs).ok());
          EXPECT_TRUE(ticker.run(kTimeoutMs).ok());
          // Whoever is through stays until the others are.
          all_stopped.arrive_and_wait();
        });
    }
    EXPECT_EQ(trio.result(), in_the_clear(circuit, input)) << "cut at packet " << cut;
    EXPECT_EQ(contradictions, 0) << "cut at packet " << cut;
    EXPECT_EQ(sent.other, 0) << "a packet was sent again with other octets";
    again += sent.again;
  }
  EXPECT_GT(again, kPackets / 2);
}

}  // namespace
}  // namespace tkdc::threegarble
