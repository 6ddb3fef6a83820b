// SPDX-License-Identifier: Apache-2.0
// A lane without any sharing: messages of tasks, a protocol's octets beside them, and the driver.
#include "lane/lane.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>

#include "lane/ticker.h"
#include "link/memory_ring.h"

namespace tkdc {
namespace {

// Three lanes that hand their packets to each other.
struct Three {
  explicit Three(Security security = Security::kSemiHonest) {
    for (int p = 0; p < 3; ++p) lane[p] = std::make_unique<Lane>(p, security);
  }
  // Until no task waits; the ticks that it took.
  Result<int> run() {
    SecretVector to_prev[3], to_next[3];
    for (int ticks = 0;; ++ticks) {
      int waiting = 0;
      for (auto& one : lane) waiting += one->advance() ? 1 : 0;
      if (waiting == 0) return ticks;
      for (int p = 0; p < 3; ++p) {
        to_prev[p].clear();
        to_next[p].clear();
        lane[p]->append_to_prev(to_prev[p]);
        lane[p]->append_to_next(to_next[p]);
      }
      for (int p = 0; p < 3; ++p)
        if (auto taken = lane[p]->consume(to_prev[(p + 1) % 3], to_next[(p + 2) % 3]); !taken)
          return taken.error();
    }
  }
  std::unique_ptr<Lane> lane[3];
};

SecretVector octets(int from, std::size_t count) {
  return SecretVector(count, static_cast<std::uint8_t>(from));
}

Task<void> pass_on(Lane& lane, std::size_t bytes, SecretVector& got) {
  const SecretVector mine = octets(lane.party(), bytes);
  got = co_await lane.pass(mine);
}

Task<void> tell_both(Lane& lane, std::uint8_t word, FromBoth& got) {
  got = co_await lane.exchange(ByteSpan(&word, 1));
}

TEST(Lane, MessagesOfOneTickTravelInOnePacketAndReachTheirTasks) {
  Three three;
  SecretVector passed[3][2];
  FromBoth told[3];
  for (int p = 0; p < 3; ++p) {
    three.lane[p]->spawn(pass_on(*three.lane[p], 5, passed[p][0]));
    three.lane[p]->spawn(tell_both(*three.lane[p], static_cast<std::uint8_t>(10 + p), told[p]));
    three.lane[p]->spawn(pass_on(*three.lane[p], 3, passed[p][1]));
  }
  auto ticks = three.run();
  ASSERT_TRUE(ticks.ok());
  EXPECT_EQ(*ticks, 1);
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(passed[p][0], octets((p + 1) % 3, 5));
    EXPECT_EQ(passed[p][1], octets((p + 1) % 3, 3));
    EXPECT_EQ(told[p].prev, Bytes(1, static_cast<std::uint8_t>(10 + (p + 2) % 3)));
    EXPECT_EQ(told[p].next, Bytes(1, static_cast<std::uint8_t>(10 + (p + 1) % 3)));
  }
}

// What a protocol adds to a tick: a count to the previous neighbour, the party to the next one.
class Part final : public TickPart {
 public:
  explicit Part(Lane& lane, const char* name = "a part", std::size_t bytes = 2)
      : lane_(lane), bytes_(bytes), own_{static_cast<std::uint8_t>(lane.party())} {
    EXPECT_TRUE(lane.use(*this, name));
    lane.add_progress([this](Writer& to) { to.u64(progress); });
  }
  ByteSpan finish_to_prev() override {
    Bytes& sent = sent_[lane_.rounds() % kKeptTicks];
    sent.assign(bytes_, static_cast<std::uint8_t>(lane_.rounds() + bytes_));
    return sent;
  }
  ByteSpan sent_to_prev(std::uint64_t tick) const override { return sent_[tick % kKeptTicks]; }
  ByteSpan to_next() const override { return own_; }
  std::size_t bytes_from(Neighbour from) const override {
    return from == Neighbour::kNext ? bytes_ : 1;
  }
  Result<void> consume(ByteSpan from_next, ByteSpan from_prev) override {
    if (refuses) return fail("this part takes nothing");
    EXPECT_EQ(Bytes(from_next.begin(), from_next.end()),
              Bytes(bytes_, static_cast<std::uint8_t>(lane_.rounds() + bytes_)));
    EXPECT_EQ(from_prev[0], (lane_.party() + 2) % 3);
    ++taken;
    return {};
  }

  bool refuses = false;
  int taken = 0;
  std::uint64_t progress = 0;

 private:
  Lane& lane_;
  const std::size_t bytes_;
  const Bytes own_;
  Bytes sent_[kKeptTicks];
};

TEST(Lane, AProtocolAddsItsOctetsToEachTick) {
  Three three;
  Part parts[3] = {Part(*three.lane[0]), Part(*three.lane[1]), Part(*three.lane[2])};
  SecretVector passed[3];
  auto twice = [&](int p) -> Task<void> {
    co_await pass_on(*three.lane[p], 4, passed[p]);
    co_await pass_on(*three.lane[p], 7, passed[p]);
  };
  for (int p = 0; p < 3; ++p) three.lane[p]->spawn(twice(p));
  auto ticks = three.run();
  ASSERT_TRUE(ticks.ok());
  EXPECT_EQ(*ticks, 2);
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(parts[p].taken, 2);
    EXPECT_EQ(passed[p], octets((p + 1) % 3, 7));
    EXPECT_EQ(three.lane[p]->sent_to_prev(0).parts[0].size(), 2u);
    EXPECT_TRUE(three.lane[p]->sent_to_prev(0).parts[1].empty());
  }
}

// Each has what its own neighbours' part sent, whatever the others add.
TEST(Lane, TwoProtocolsAddToOneTick) {
  Three three;
  std::unique_ptr<Part> first[3], second[3];
  for (int p = 0; p < 3; ++p) {
    first[p] = std::make_unique<Part>(*three.lane[p], "first", 5);
    second[p] = std::make_unique<Part>(*three.lane[p], "second", 3);
  }
  SecretVector passed[3];
  for (int p = 0; p < 3; ++p) three.lane[p]->spawn(pass_on(*three.lane[p], 4, passed[p]));
  ASSERT_TRUE(three.run().ok());
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(first[p]->taken, 1);
    EXPECT_EQ(second[p]->taken, 1);
    EXPECT_EQ(passed[p], octets((p + 1) % 3, 4));
    EXPECT_EQ(three.lane[p]->sent_to_prev(0).parts[0].size(), 5u);
    EXPECT_EQ(three.lane[p]->sent_to_prev(0).parts[1].size(), 3u);
  }
}

TEST(Lane, OneProtocolJoinsOnceAndTwoAtMost) {
  Lane lane(0, Security::kSemiHonest);
  Part first(lane, "first");
  EXPECT_FALSE(lane.use(first, "first"));
  Part second(lane, "second");
  EXPECT_FALSE(lane.use(first, "third"));
}

TEST(Lane, WhatAPartRefusesIsADeviation) {
  Three three;
  Part parts[3] = {Part(*three.lane[0]), Part(*three.lane[1]), Part(*three.lane[2])};
  parts[0].refuses = true;
  SecretVector passed[3];
  for (int p = 0; p < 3; ++p) three.lane[p]->spawn(pass_on(*three.lane[p], 4, passed[p]));
  EXPECT_FALSE(three.run().ok());
  EXPECT_EQ(three.lane[0]->deviation(), "this part takes nothing");
}

Task<void> agree(Lane& lane, bool& went_on) {
  co_await lane.agreed();
  went_on = true;
}

// Decisions, and how far the protocol has come.
TEST(Lane, NobodyGoesOnWhereTheyDecidedOrComputedOtherThings) {
  for (int differs = 0; differs < 3; ++differs) {
    Three three(Security::kMalicious);
    Part parts[3] = {Part(*three.lane[0]), Part(*three.lane[1]), Part(*three.lane[2])};
    bool went_on[3] = {};
    for (int p = 0; p < 3; ++p) {
      const bool other = p == 2;
      const auto decided = static_cast<std::uint8_t>(differs == 1 && other ? 2 : 1);
      three.lane[p]->course().note(Course::Kind::kSaid, {ByteSpan(&decided, 1)});
      parts[p].progress = differs == 2 && other ? 8 : 7;
      three.lane[p]->spawn(agree(*three.lane[p], went_on[p]));
    }
    ASSERT_TRUE(three.run().ok());
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(went_on[p], differs == 0) << p;
      EXPECT_EQ(three.lane[p]->deviation().has_value(), differs != 0) << p;
    }
  }
}

// Says a word in every second tick, and keeps what it hears.
class Speaker final : public Ticker::Owner {
 public:
  explicit Speaker(int party) : party_(party) {}
  std::optional<Ticker::OwnControl> say() override {
    if (tick_++ % 2 != 0) return std::nullopt;
    Ticker::OwnControl own;
    own.to_both = Bytes(1, static_cast<std::uint8_t>(party_));
    return own;
  }
  Result<void> hear(const Ticker::Control& said) override {
    EXPECT_EQ(said.next.to_both[0], (party_ + 1) % 3);
    EXPECT_EQ(said.prev.to_both[0], (party_ + 2) % 3);
    ++heard;
    return {};
  }
  bool enough() const override { return heard == most; }
  int heard = 0, most = -1;

 private:
  const int party_;
  int tick_ = 0;
};

// Links that outlive every party's thread: the first one that leaves closes the ring for the
// others, which may still wait for a packet.
using ThreeLinks = std::array<std::unique_ptr<Link>, 3>;

ThreeLinks three_links() {
  auto ring = MemoryRing::create();
  return {ring->link(0), ring->link(1), ring->link(2)};
}

TEST(Ticker, RunsTasksToTheirEndOverLinks) {
  const ThreeLinks links = three_links();
  std::vector<std::jthread> threads;
  for (int p = 0; p < 3; ++p)
    threads.emplace_back([p, &links] {
      Lane lane(p, Security::kSemiHonest);
      Ticker ticker(lane, *links[p]);
      Speaker speaker(p);
      SecretVector got;
      auto five = [&]() -> Task<void> {
        for (std::size_t k = 1; k <= 5; ++k) co_await pass_on(lane, k, got);
      };
      lane.spawn(five());
      EXPECT_TRUE(ticker.run(speaker).ok());
      EXPECT_EQ(lane.rounds(), 5u);
      EXPECT_EQ(speaker.heard, 3);
      EXPECT_EQ(got, octets((p + 1) % 3, 5));
      // And until its owner has enough, though a task waits.
      speaker.most = 4;
      lane.spawn(five());
      EXPECT_TRUE(ticker.run(speaker).ok());
      EXPECT_EQ(speaker.heard, 4);
      EXPECT_GT(lane.tasks(), 0u);
    });
}

// A tick that shows a deviation resumes nobody, whatever its owner thinks of it; and where the
// owner finds its octets malformed, what this server knows by itself still stands.
class Refusing final : public Ticker::Owner {
  std::optional<Ticker::OwnControl> say() override { return Ticker::OwnControl(); }
  Result<void> hear(const Ticker::Control&) override { return fail("malformed"); }
};

TEST(Ticker, WhatAServerKnowsStandsThoughItsOwnerHearsNonsense) {
  for (bool knows : {false, true}) {
    const ThreeLinks links = three_links();
    std::vector<std::jthread> threads;
    for (int p = 0; p < 3; ++p)
      threads.emplace_back([p, knows, &links] {
        Lane lane(p, Security::kMalicious);
        Ticker ticker(lane, *links[p]);
        Refusing owner;
        SecretVector got;
        lane.spawn(pass_on(lane, 4, got));
        if (knows) lane.deviates_with_this_tick("a check failed");
        const auto ran = ticker.run(owner);
        ASSERT_FALSE(ran.ok());
        EXPECT_EQ(ran.error().message, knows ? "a check failed" : "malformed");
        EXPECT_EQ(lane.deviation().has_value(), knows);
        EXPECT_TRUE(got.empty());
      });
  }
}

}  // namespace
}  // namespace tkdc
