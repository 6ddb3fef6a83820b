// SPDX-License-Identifier: Apache-2.0
// A server that keeps its packets back from some tick on, so that nobody ends the tick: what the
// two honest ones have to hear of each other reaches them nevertheless, and they latch.
#include <thread>

#include "lane/ticker.h"
#include "link/memory_ring.h"
#include "trio.h"

namespace tkdc::threegarble {
namespace {

constexpr int kTimeoutMs = 300;

// Packets begin with the tick, u32, and in a full tick the lane's own part, u32 0; then tasks'.
class Withholder final : public MemoryRing {
 public:
  Withholder(int party, std::size_t from_tick) : party_(party), from_tick_(from_tick) {}
  int party() const { return party_; }
  // In m1, to the previous neighbour (A) or the next one (B).
  std::optional<std::pair<Neighbour, std::size_t>> spoilt;

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    const std::uint32_t tick = Reader(packet).u32();
    if (from == party_ && tick >= from_tick_) return;
    if (from == party_ && tick == kM1 && spoilt && spoilt->first == to)
      packet.at(2 * sizeof(std::uint32_t) + spoilt->second) ^= 1;
    deliver(from, to, std::move(packet));
  }

 private:
  const int party_;
  const std::size_t from_tick_;
};

Task<void> keep(Trio& trio, const Shape& shape, int p, JobTag tag, SharedBytes input) {
  trio.outcomes[static_cast<std::size_t>(p)] =
      co_await run(trio.side(p), shape, std::move(*trio.instances[p]), Trio::admitted(tag, input));
}

void run_over(Withholder& ring, Trio& trio, const Shape& shape, const std::array<JobTag, 3>& tags) {
  const auto inputs = trio.lanes.share(random_octets(2));
  std::unique_ptr<Link> links[3];
  for (int p = 0; p < 3; ++p) links[p] = ring.link(p);
  std::vector<std::jthread> threads;
  for (int p = 0; p < 3; ++p) trio.side(p);
  for (int p = 0; p < 3; ++p)
    threads.emplace_back([&, p] {
      const auto at = static_cast<std::size_t>(p);
      Ticker ticker(*trio.lanes.lane[p], *links[p]);
      trio.lanes.lane[p]->spawn(keep(trio, shape, p, tags[at], inputs[at]));
      const bool ended = ticker.run(kTimeoutMs).ok();
      if (p != ring.party()) {
        EXPECT_FALSE(ended) << p;
      }
    });
}

bool latched(const Trio& trio, int p) { return trio.lanes.lane[p]->deviation().has_value(); }

// The two others were told of different jobs; the liar is at one of the two. Where that is a
// garbler, E knows by itself, and the other garbler hears it of E alone, with m3.
TEST(Withheld, AnM3HidesNoDifference) {
  const Shape shape = shape_for(small_circuit());
  for (const Role role : {Role::kEvaluator, Role::kGarblerA, Role::kGarblerB})
    for (const int odd : {1, 2}) {
      const std::uint64_t n = static_cast<std::uint64_t>(role);
      const int liar = Trio::party_of(role, n);
      Trio trio(n);
      ASSERT_TRUE(trio.prepare(shape, n));
      std::array<JobTag, 3> tags;
      tags[static_cast<std::size_t>(liar + odd) % 3].job = 1;
      const auto ring = std::make_shared<Withholder>(liar, kM3);
      run_over(*ring, trio, shape, tags);
      for (const int other : {(liar + 1) % 3, (liar + 2) % 3})
        EXPECT_TRUE(latched(trio, other)) << "liar " << liar << ", honest " << other;
    }
}

// E saw in m1 that a garbler is at another job, or that its labels are none: it knows by itself,
// and latches in whichever tick that garbler stops. The other one hears it with m3.
TEST(Withheld, AnM1ThatWasWrongLatchesEvaluator) {
  const Shape shape = shape_for(small_circuit());
  for (const Role role : {Role::kGarblerA, Role::kGarblerB})
    for (const std::size_t tick : {kM2, kM3})
      for (const std::size_t octet : {std::size_t{5}, kDigestBytes + kKeyBytes + 7}) {
        const std::uint64_t n = octet % 3;
        const int liar = Trio::party_of(role, n), e = Trio::party_of(Role::kEvaluator, n);
        Trio trio(n);
        ASSERT_TRUE(trio.prepare(shape, n));
        const auto ring = std::make_shared<Withholder>(liar, tick);
        // To the next neighbour a mark goes before it.
        if (role == Role::kGarblerA) ring->spoilt = {Neighbour::kPrev, octet};
        if (role == Role::kGarblerB) ring->spoilt = {Neighbour::kNext, octet + 1};
        run_over(*ring, trio, shape, {});
        EXPECT_TRUE(latched(trio, e));
        const bool of_job = octet < kDigestBytes;
        EXPECT_EQ(trio.lanes.lane[e]->deviation().value_or("").find("told different things") !=
                      std::string::npos,
                  of_job);
        if (tick == kM3) {
          EXPECT_TRUE(latched(trio, 3 - liar - e));
        }
      }
}

// A that finds m2 wrong, likewise: E keeps m3 back.
TEST(Withheld, AnM3AfterAWrongM2LatchesBothGarblers) {
  const Shape shape = shape_for(small_circuit());
  for (std::uint64_t n = 0; n < 3; ++n) {
    const int e = Trio::party_of(Role::kEvaluator, n);
    Trio trio(n);
    ASSERT_TRUE(trio.prepare(shape, n));
    // Tables that E has not as they were garbled: what it evaluates is nothing.
    for (std::uint8_t& octet : std::get<CheckedTables>(*trio.instances[e]).mask_labels) octet ^= 2;
    const auto ring = std::make_shared<Withholder>(e, kM3);
    run_over(*ring, trio, shape, {});
    for (const int other : {(e + 1) % 3, (e + 2) % 3}) EXPECT_TRUE(latched(trio, other));
  }
}

// A control: where nobody is told anything else, a packet that is kept back is no deviation.
TEST(Withheld, AloneIsNoDeviation) {
  const Shape shape = shape_for(small_circuit());
  for (const std::size_t tick : {kM1, kM2, kM3}) {
    Trio trio(tick);
    ASSERT_TRUE(trio.prepare(shape, 0));
    const auto ring = std::make_shared<Withholder>(1, tick);
    run_over(*ring, trio, shape, {});
    for (int p = 0; p < 3; ++p) EXPECT_FALSE(latched(trio, p));
  }
}

}  // namespace
}  // namespace tkdc::threegarble
