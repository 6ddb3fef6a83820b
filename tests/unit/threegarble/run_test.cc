// SPDX-License-Identifier: Apache-2.0
// Honest runs: results against the clear, whoever evaluates and by whichever kernels; what an
// instance is refused for; who hears how much of whom; shares are uniform.
#include "circuit/random_circuit.h"
#include "trio.h"

namespace tkdc::threegarble {
namespace {

TEST(Run, GivesWhatTheCircuitComputes) {
  const circuit::Circuit circuit = small_circuit();
  const Shape shape = shape_for(circuit);
  for (std::uint64_t n = 0; n < 30; ++n) {
    Trio trio(n);
    const Bytes input = random_octets(2);
    ASSERT_EQ(trio.compute(shape, n, input), in_the_clear(circuit, input)) << n;
  }
}

TEST(Run, OneLaneServesManyJobs) {
  const circuit::Circuit circuit = small_circuit();
  const Shape shape = shape_for(circuit);
  Trio trio(7);
  for (std::uint64_t n = 3; n < 40; n += 1 + n % 3) {
    const Bytes input = random_octets(2);
    ASSERT_EQ(trio.compute(shape, n, input), in_the_clear(circuit, input)) << n;
  }
}

TEST(Run, KernelsMixFreely) {
  const circuit::Circuit circuit = small_circuit();
  const Shape shape = shape_for(circuit);
  const auto kernels = garble::kernels();
  for (std::size_t first = 0; first < kernels.size(); ++first)
    for (std::uint64_t n = 0; n < 3; ++n) {
      Trio trio(n);
      for (std::size_t p = 0; p < 3; ++p) trio.by[p] = kernels[(first + p * p) % kernels.size()];
      const Bytes input = random_octets(2);
      ASSERT_EQ(trio.compute(shape, n, input), in_the_clear(circuit, input)) << n;
    }
}

// In and out of whole octets.
circuit::Circuit in_octets(const circuit::Circuit& circuit) {
  circuit::Recorder c;
  const auto in = c.input("in", (circuit.input_bits() + 7) / 8 * 8);
  const circuit::BitSpan<circuit::Recorder> used(in.data(), circuit.input_bits());
  auto out = apply(c, circuit, used);
  out.resize((out.size() + 7) / 8 * 8, c.constant(true));
  c.output("out", circuit::BitSpan<circuit::Recorder>(out));
  return c.finish();
}

TEST(Run, RandomCircuits) {
  std::mt19937_64 generator(5);
  std::size_t served = 0;
  for (std::uint64_t n = 0; n < 150; ++n) {
    const circuit::Circuit circuit = in_octets(circuit::random_circuit(generator));
    auto shape = shape_of(circuit);
    if (!shape) continue;  // no AND, or one of a constant that folding does not find
    Trio trio(n);
    const Bytes input = random_octets(shape->in_bytes());
    ASSERT_EQ(trio.compute(*shape, n, input), in_the_clear(circuit, input)) << n;
    ++served;
  }
  EXPECT_GT(served, 60u);
}

TEST(Run, AnInstanceServesOnce) {
  const Shape shape = shape_for(small_circuit());
  Trio trio(1);
  std::size_t packets = 0;
  trio.lanes.record = [&](int, const SecretVector& prev, const SecretVector& next) {
    packets += prev.size() + next.size() > 0 ? 1 : 0;
  };
  std::vector<Step> steps;
  trio.side(0).watch([&](Step step, const InstanceId&) { steps.push_back(step); });
  ASSERT_TRUE(trio.compute(shape, 5, random_octets(2)).has_value());
  EXPECT_EQ(packets, 9u);  // three ticks of three
  // The same number again, and one that was passed over.
  for (const std::uint64_t n : {5, 4, 0}) {
    packets = 0;
    EXPECT_FALSE(trio.compute(shape, n, random_octets(2)).has_value());
    for (const Outcome& outcome : trio.outcomes) EXPECT_EQ(outcome.ending, Ending::kBurned);
    EXPECT_EQ(packets, 0u) << n;
  }
  EXPECT_TRUE(trio.compute(shape, 6, random_octets(2)).has_value());
  EXPECT_EQ(steps, (std::vector{Step::kUsed, Step::kGood, Step::kUsed, Step::kGood}));
}

TEST(Ledger, BurnsUpToANumberAndKeepsCircuitsApart) {
  Trio trio(1);
  Ledger& ledger = trio.side(0).ledger();
  InstanceId one{0, {}, 3}, other{0, {1}, 3};
  EXPECT_TRUE(ledger.burn(one));
  EXPECT_FALSE(ledger.burn(one));
  EXPECT_TRUE(ledger.burn(other));
  one.n = 2;
  EXPECT_FALSE(ledger.burn(one));
  one.n = 4;
  EXPECT_TRUE(ledger.burn(one));
  one.n = ~std::uint64_t{0};
  EXPECT_FALSE(ledger.burn(one));
}

// ---- a ledger and a reserve live exactly as long as the keys

static_assert(!std::is_default_constructible_v<Ledger> &&
              !std::is_default_constructible_v<Reserve>);
static_assert(
    !std::is_constructible_v<Reserve, std::uint32_t, std::vector<Reserve::Kind>, std::size_t>);
static_assert(!std::is_copy_constructible_v<Ledger> && !std::is_move_constructible_v<Ledger>);
static_assert(!std::is_copy_constructible_v<Reserve> && !std::is_move_constructible_v<Reserve>);
static_assert(!std::is_copy_assignable_v<Ledger> && !std::is_move_assignable_v<Ledger>);
static_assert(!std::is_copy_assignable_v<Reserve> && !std::is_move_assignable_v<Reserve>);
static_assert(!std::is_move_constructible_v<LaneSide> && !std::is_move_assignable_v<LaneSide>);
static_assert(!std::is_constructible_v<LaneSide, Lane&, std::uint32_t, PairwiseKeys, LaneSide::Plan,
                                       const garble::Kernel&>);
// Keys go in and nobody has them beside it.
static_assert(!std::is_copy_constructible_v<PairwiseKeys>);

// A lane has one side: a second one, whose ledger would begin anew, is refused.
TEST(Side, IsOneInALane) {
  Trio trio(2);
  LaneSide& first = trio.side(1);
  auto second = LaneSide::join(*trio.lanes.lane[1], 0, trio.lanes.keys_of(1), {});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("has a side"), std::string::npos);
  // Its ledger and reserve go on where they were, over however many jobs.
  const Shape shape = shape_for(small_circuit());
  ASSERT_TRUE(trio.compute(shape, 4, random_octets(2)).has_value());
  EXPECT_FALSE(first.ledger().burn(Trio::id_of(shape, 4)));
}

// What a side has used is in what the lane's servers compare.
TEST(Side, HowFarItIsIsCompared) {
  const Shape shape = shape_for(small_circuit());
  for (int ahead = 0; ahead < 3; ++ahead) {
    Trio trio(3);
    for (int p = 0; p < 3; ++p) trio.side(p);
    const auto agree = [&] {
      return trio.lanes.run([&](int p) -> Task<void> { return trio.lanes.lane[p]->agreed(); });
    };
    ASSERT_TRUE(agree().ok());
    ASSERT_TRUE(trio.side(ahead).ledger().burn(Trio::id_of(shape, 0)));
    for (int p = 0; p < 3; ++p) trio.lanes.lane[p]->course().note(Course::Kind::kSaid, {Bytes{1}});
    EXPECT_FALSE(agree().ok());
  }
}

// A component's digest and the digest of labels are under one key: no labels spell a component.
TEST(Digests, OfLabelsAndComponentsAreApart) {
  const Digest key{7};
  Bytes component(15, 0x33), spelt;
  Writer w(spelt);
  w.text("component");
  w.bytes(component);
  ASSERT_EQ(spelt.size() % garble::kLabelBytes, 0u);
  EXPECT_NE(label_digest(key, spelt), component_digest(key, component));
  EXPECT_NE(label_digest(key, component), component_digest(key, component));
  EXPECT_NE(label_digest(key, component), whole_digest(key, component));
  EXPECT_NE(component_statement(0, JobTag(), component), component_digest(key, component));
}

TEST(Shape, RefusesWhatItCannotServe) {
  const auto circuit_of = [](std::size_t in, std::size_t out, bool constant, bool with_and) {
    circuit::Recorder c;
    const auto x = c.input("x", in);
    circuit::Bits<circuit::Recorder> y;
    for (std::size_t k = 0; k < out; ++k)
      y.push_back(with_and ? c.and_of(x[k % in], x[(k + 1) % in]) : x[k % in]);
    if (constant) {
      const auto sum = c.xor_of(c.xor_of(x[0], x[1]), x[2]);
      const auto same = c.xor_of(c.xor_of(x[2], x[1]), x[0]);
      y[0] = c.and_of(c.xor_of(sum, same), c.xor_of(x[3], x[4]));
    }
    c.output("y", circuit::BitSpan<circuit::Recorder>(y));
    return c.finish();
  };
  EXPECT_TRUE(shape_of(circuit_of(8, 8, false, true)).ok());
  EXPECT_FALSE(shape_of(circuit_of(8, 8, true, true)).ok());
  EXPECT_FALSE(shape_of(circuit_of(8, 8, false, false)).ok());
  EXPECT_FALSE(shape_of(circuit_of(9, 8, false, true)).ok());
  EXPECT_FALSE(shape_of(circuit_of(8, 7, false, true)).ok());
  EXPECT_FALSE(shape_of(circuit_of(kMostWires / 2 + 8, 8, false, true)).ok());
}

TEST(Shape, OfAnotherCircuitHasAnotherDigest) {
  circuit::Circuit circuit = small_circuit();
  const Shape shape = shape_for(circuit);
  for (circuit::Gate& gate : circuit.gates)
    if (gate.op == circuit::Op::kAnd) {
      gate.op = circuit::Op::kXor;
      break;
    }
  EXPECT_NE(shape_for(circuit).digest, shape.digest);
}

// A purpose, an instance, a lane, a circuit and D each have streams of their own.
TEST(Derivations, NeverMeet) {
  Trio trio(3);
  std::vector<SecretVector> all;
  for (std::uint64_t n = 0; n < 6; ++n)
    for (std::uint32_t lane = 0; lane < 2; ++lane)
      for (std::uint8_t circuit = 0; circuit < 2; ++circuit)
        for (std::uint8_t purpose = 1; purpose <= 6; ++purpose)
          for (std::uint8_t more = 0; more < 2; ++more) {
            const InstanceId id{lane, {circuit}, n};
            const Bytes extra(32, more);
            all.push_back(derive(trio.seat_of(Role::kGarblerA, n), Role::kGarblerB,
                                 static_cast<Purpose>(purpose), id, extra));
            EXPECT_EQ(derive(trio.seat_of(Role::kGarblerB, n), Role::kGarblerA,
                             static_cast<Purpose>(purpose), id, extra),
                      all.back());
          }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

// B hears of E its verdict and nothing else; nobody hears more than the page says.
TEST(Messages, LengthsAreTheShapes) {
  const Shape shape = shape_for(small_circuit());
  for (std::uint64_t n = 0; n < 3; ++n) {
    Trio trio(n);
    std::vector<std::array<std::size_t, 6>> ticks;
    trio.lanes.record = [&](int p, const SecretVector& prev, const SecretVector& next) {
      if (p == 0) ticks.emplace_back();
      const auto role = static_cast<std::size_t>(role_of(p, n));
      ticks.back()[2 * role] = prev.size();
      ticks.back()[2 * role + 1] = next.size();
    };
    ASSERT_TRUE(trio.compute(shape, n, random_octets(2)).has_value());
    const std::size_t m1 = m1_bytes(shape), m2 = m2_bytes(shape);
    // E to B, E to A; A to E, A to B; B to A, B to E.
    const std::vector<std::array<std::size_t, 6>> expected = {
        {0, 1, m1, 1, 0, 1 + m1}, {0, 1 + m2, 0, 1 + 32, 32, 1}, {33, 33, 33, 33, 33, 33}};
    EXPECT_EQ(ticks, expected);
  }
}

// Each component of a result is uniform, whatever the input: what A and E learn is masked.
TEST(Shares, AreUniform) {
  const Shape shape = shape_for(small_circuit());
  constexpr int kRuns = 600;
  std::array<std::array<int, 16>, 3> ones{};
  for (int run = 0; run < kRuns; ++run) {
    Trio trio(static_cast<std::uint64_t>(run) + 1'000);
    ASSERT_TRUE(trio.compute(shape, 0, Bytes{0xff, 0x0f}).has_value());
    for (std::size_t p = 0; p < 3; ++p)
      for (std::size_t k = 0; k < 16; ++k)
        ones[p][k] += static_cast<int>(bit_of(trio.outcomes[p].share.component[0], k));
  }
  // Eight deviations of sqrt(600) / 2.
  for (const auto& component : ones)
    for (const int count : component) EXPECT_NEAR(count, kRuns / 2, 98);
}

}  // namespace
}  // namespace tkdc::threegarble
