// SPDX-License-Identifier: Apache-2.0
// The reserve: what is made next, within its bound; filled by three makers over bulk streams, and
// used by jobs; a garbler that deviates, a stream that breaks.
#include "circuits/catalogue.h"
#include "threegarble/fill.h"
#include "trio.h"

namespace tkdc::threegarble {
namespace {

std::shared_ptr<const Shape> shared(const circuit::Circuit& circuit) {
  return std::make_shared<const Shape>(shape_for(circuit));
}
std::shared_ptr<const Shape> shared(const char* name) {
  return shared(circuits::record(*circuits::find_named(name)));
}
Instance of(const Reserve::Next& next) { return GarbledInstance{next.id, SecretVector()}; }

// A lane with a reserve, and nobody else.
struct Alone {
  Alone(std::uint32_t number, LaneSide::Plan plan) {
    auto joined = LaneSide::join(lane, number, PairwiseKeys(), std::move(plan));
    EXPECT_TRUE(joined.ok());
    side = std::move(*joined);
  }
  Lane lane{0, Security::kMalicious};
  std::unique_ptr<LaneSide> side;
};

TEST(Reserve, MakesWhatLacksMostAndNumbersIt) {
  Alone alone(3, {{{shared("aes-sbox"), 4}, {shared("add64"), 2}}, 1u << 30});
  Reserve& reserve = alone.side->reserve();
  std::vector<std::pair<std::size_t, std::uint64_t>> order;
  while (const auto next = reserve.next()) {
    EXPECT_EQ(next->id.lane, 3u);
    EXPECT_EQ(next->id.circuit, reserve.shape(next->kind).digest);
    order.emplace_back(next->kind, next->id.n);
    reserve.begin(*next);
    reserve.put(*next, of(*next));
  }
  const std::vector<std::pair<std::size_t, std::uint64_t>> expected = {{0, 0}, {1, 0}, {0, 1},
                                                                       {0, 2}, {1, 1}, {0, 3}};
  EXPECT_EQ(order, expected);
  // The oldest first; then there is room again, and its number is a new one.
  EXPECT_EQ(id_of(*reserve.take(1)).n, 0u);
  EXPECT_EQ(reserve.next()->kind, 1u);
  EXPECT_EQ(reserve.next()->id.n, 2u);
  EXPECT_EQ(id_of(*reserve.take(1)).n, 1u);
  EXPECT_FALSE(reserve.take(1).has_value());
  EXPECT_EQ(reserve.counts(1).taken, 2u);
  EXPECT_EQ(reserve.counts(1).missed, 1u);
  EXPECT_EQ(reserve.counts(0).ready, 4u);
}

TEST(Reserve, StaysWithinItsBound) {
  const auto shape = shared("add64");
  const std::size_t labels = shape->out_bits * garble::kLabelBytes;
  // Two instances' tables at one server, and labels of as many as come meanwhile.
  const std::size_t most = 2 * shape->all_bytes + 8 * labels;
  Alone alone(0, {{{shape, 100}}, most});
  Reserve& reserve = alone.side->reserve();
  std::size_t made = 0;
  while (const auto next = reserve.next()) {
    reserve.begin(*next);
    EXPECT_LE(reserve.bytes(), most);
    reserve.put(*next, of(*next));
    ++made;
  }
  EXPECT_EQ(made, 6u);  // two for each evaluator
  // What could not be made gives its octets back, and its number is gone.
  ASSERT_TRUE(reserve.take(0).has_value());
  const auto next = reserve.next();
  ASSERT_TRUE(next.has_value());
  const std::size_t before = reserve.bytes();
  reserve.begin(*next);
  reserve.drop(*next);
  EXPECT_EQ(reserve.bytes(), before);
  EXPECT_NE(reserve.next()->id.n, next->id.n);
}

// Three servers' reserves and makers, and streams between each pair.
class Makers {
 public:
  using Kinds = std::vector<Reserve::Kind>;
  Makers(Trio& trio, const Kinds& kinds) : Makers(trio, {kinds, kinds, kinds}) {}
  Makers(Trio& trio, std::array<Kinds, 3> kinds) : trio_(trio) {
    LaneStreams streams[3];
    for (int p = 0; p < 3; ++p) {
      BulkOptions options;
      options.ring_bytes = 1u << 14;  // far less than an instance
      const int next = (p + 1) % 3;
      MemoryBulkStream up = make_memory_bulk_stream("p", "next", options),
                       down = make_memory_bulk_stream("next", "p", options);
      streams[p].to_next = std::move(up.writer);
      streams[next].from_prev = std::move(up.reader);
      streams[next].to_prev = std::move(down.writer);
      streams[p].from_next = std::move(down.reader);
    }
    for (int p = 0; p < 3; ++p) {
      broken[p] = streams[p].to_next.get();
      trio.plan = {std::move(kinds[static_cast<std::size_t>(p)]), 1u << 30};
      reserve[p] = &trio.side(p).reserve();
      maker[p] = std::make_unique<Maker>(trio.seat(p), std::move(streams[p]), 10'000);
    }
  }
  Result<void> fill_all() {
    return trio_.lanes.run([this](int p) -> Task<void> { return keep(p); });
  }

  FillOptions options(int p) {
    FillOptions all;
    all.stop = [] { return false; };
    all.streams = on_streams[p];
    all.renewed = [this, p] { return renewed[p]; };
    return all;
  }

  Reserve* reserve[3];
  std::unique_ptr<Maker> maker[3];
  std::uint8_t on_streams[3]{};
  bool renewed[3]{};
  Filled filled[3];
  BulkWriter* broken[3];

 private:
  Task<void> keep(int p) { filled[p] = co_await fill(trio_.side(p), *maker[p], options(p)); }
  Trio& trio_;
};

TEST(Filling, JobsTakeWhatWasMade) {
  const circuit::Circuit small = small_circuit(),
                         box = circuits::record(*circuits::find_named("aes-sbox"));
  Trio trio(5);
  Makers makers(trio, {{shared(small), 5}, {shared(box), 4}});
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(makers.fill_all().ok());
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(makers.filled[p], Filled::kFull);
      EXPECT_EQ(makers.reserve[p]->counts(0).ready, 5u);
      EXPECT_EQ(makers.reserve[p]->counts(1).ready, 4u);
      EXPECT_EQ(makers.reserve[p]->bytes(), makers.reserve[0]->bytes());
    }
    for (int job = 0; job < 4; ++job)
      for (const std::size_t kind : {0u, 1u}) {
        for (int p = 0; p < 3; ++p) trio.instances[p] = makers.reserve[p]->take(kind);
        const circuit::Circuit& circuit = kind == 0 ? small : box;
        const Bytes input = random_octets(circuit.input_bits() / 8);
        ASSERT_TRUE(trio.run_job(makers.reserve[0]->shape(kind), JobTag(), input).ok());
        ASSERT_EQ(trio.result(), in_the_clear(circuit, input));
      }
  }
}

// One server has taken up the streams of new connections a tick before the others: nothing is made,
// nobody is blamed, and they go on where all three have.
TEST(Filling, WaitsUntilAllAreOnTheSameStreams) {
  Trio trio(15);
  Makers makers(trio, {{shared(small_circuit()), 3}});
  makers.on_streams[1] = 1;
  ASSERT_TRUE(makers.fill_all().ok());
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(makers.filled[p], Filled::kApart);
    EXPECT_EQ(makers.reserve[p]->counts(0).ready, 0u);
    EXPECT_EQ(makers.reserve[p]->bytes(), 0u);
  }
  for (std::uint8_t& streams : makers.on_streams) streams = 1;
  ASSERT_TRUE(makers.fill_all().ok());
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(makers.filled[p], Filled::kFull);
    EXPECT_EQ(makers.reserve[p]->counts(0).ready, 3u);
  }
}

// Whether there are others is the same for all three, although each knows its own alone.
TEST(Filling, IsRenewedWhereAllHaveOtherStreams) {
  for (const bool last : {true, false}) {
    Trio trio(16);
    Makers makers(trio, {{shared(small_circuit()), 3}});
    makers.renewed[0] = makers.renewed[1] = true;
    makers.renewed[2] = last;
    for (auto& maker : makers.maker) maker->give_up("other connections");
    ASSERT_TRUE(makers.fill_all().ok());
    for (int p = 0; p < 3; ++p)
      EXPECT_EQ(makers.filled[p], last ? Filled::kRenewed : Filled::kBroken);
  }
}

// A garbler whose seed is not the other's: its tables are others.
TEST(Filling, AGarblerThatDeviatesEndsTheLane) {
  Trio trio(6);
  trio.keys[1].next.data()[0] ^= 1;  // k_2, of 1 and 2
  Makers makers(trio, {{shared(small_circuit()), 3}});
  const auto ran = makers.fill_all();
  ASSERT_FALSE(ran.ok());
  EXPECT_NE(ran.error().message.find("tables"), std::string::npos) << ran.error().message;
  for (int p = 0; p < 3; ++p) EXPECT_EQ(makers.reserve[p]->counts(0).ready, 0u);
}

// Told: an octet in each tick says how far a server is. One that says another thing to one of the
// others would have an instance on one shelf and not on the other.
TEST(Filling, WhatOneIsToldAndTheOtherIsNotLatchesBoth) {
  for (int liar = 0; liar < 3; ++liar)
    for (const bool to_next : {false, true})
      for (const Maker::State word :
           {Maker::State::kMaking, Maker::State::kMade, Maker::State::kBroken}) {
        Trio trio(8);
        Makers makers(trio, {{shared(small_circuit()), 3}});
        bool lied = false;
        trio.lanes.tamper = [&](int p, SecretVector& prev, SecretVector& next) {
          if (p != liar || lied) return;
          // After the digest. Its last word, if it lies about being through; else the first.
          std::uint8_t& told = (to_next ? next : prev).at(Course::Digest{}.size());
          const auto through = static_cast<std::uint8_t>(Maker::State::kMade);
          if (word == Maker::State::kMaking && told != through) return;
          lied = told != static_cast<std::uint8_t>(word);
          told = static_cast<std::uint8_t>(word);
        };
        const auto ran = makers.fill_all();
        EXPECT_TRUE(lied);
        ASSERT_FALSE(ran.ok());
        EXPECT_NE(ran.error().message.find("told different things"), std::string::npos)
            << ran.error().message;
        const int one = (liar + 1) % 3, other = (liar + 2) % 3;
        for (const int p : {one, other}) {
          EXPECT_TRUE(trio.lanes.lane[p]->deviation().has_value());
          EXPECT_EQ(makers.reserve[p]->counts(0).ready, 0u);
        }
      }
}

// A server that is at another instance, or another kind: found before a table leaves.
TEST(Filling, AnotherInstanceAtOneServerLatchesBeforeItIsMade) {
  for (std::size_t odd = 0; odd < 3; ++odd) {
    Trio trio(9);
    const Makers::Kinds usual = {{shared(small_circuit()), 3}, {shared("aes-sbox"), 3}};
    std::array<Makers::Kinds, 3> kinds = {usual, usual, usual};
    std::swap(kinds[odd][0], kinds[odd][1]);
    Makers makers(trio, kinds);
    const auto ran = makers.fill_all();
    ASSERT_FALSE(ran.ok());
    EXPECT_NE(ran.error().message.find("told different things"), std::string::npos);
    for (int p = 0; p < 3; ++p) {
      EXPECT_TRUE(trio.lanes.lane[p]->deviation().has_value());
      EXPECT_EQ(trio.lanes.lane[p]->rounds(), 1u);
    }
  }
}

TEST(Filling, AStreamThatBreaksEndsItAndTheLaneGoesOn) {
  const circuit::Circuit small = small_circuit();
  Trio trio(7);
  Makers makers(trio, {{shared(small), 2}});
  ASSERT_TRUE(makers.fill_all().ok());
  for (int p = 0; p < 3; ++p) trio.instances[p] = makers.reserve[p]->take(0);
  makers.broken[1]->abort("the network is gone");
  makers.broken[2]->abort("the network is gone");
  ASSERT_TRUE(makers.fill_all().ok());
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(makers.filled[p], Filled::kBroken);
    EXPECT_EQ(makers.reserve[p]->counts(0).ready, 1u);
  }
  const Bytes input{1, 2};
  ASSERT_TRUE(trio.run_job(makers.reserve[0]->shape(0), JobTag(), input).ok());
  EXPECT_EQ(trio.result(), in_the_clear(small, input));
}

}  // namespace
}  // namespace tkdc::threegarble
