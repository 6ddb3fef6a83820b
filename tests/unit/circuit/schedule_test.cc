// SPDX-License-Identifier: Apache-2.0
// Schedules: the function of the circuit, layers of independent ANDs, few slots, bounded parts.
#include "circuit/schedule.h"

#include <set>

#include "random_circuit.h"

namespace tkdc::circuit {
namespace {

// Each layer's ANDs read nothing that the layer's ANDs write, so they run in any order.
void expect_layers(const Schedule& schedule) {
  std::size_t at = 0;
  for (const Schedule::Layer& layer : schedule.layers) {
    at += layer.xors;
    std::set<std::uint32_t> written;
    for (std::size_t k = at; k < at + layer.ands; ++k)
      EXPECT_TRUE(written.insert(schedule.gates[k].out).second);
    for (std::size_t k = at; k < at + layer.ands; ++k)
      for (const std::uint32_t operand : {schedule.gates[k].a, schedule.gates[k].b})
        EXPECT_FALSE(written.contains(operand & ~ScheduledGate::kComplement));
    at += layer.ands;
  }
  EXPECT_EQ(at, schedule.gates.size());
}

void expect_parts(const Schedule& schedule) {
  std::size_t layers = 0, gates = 0;
  for (const Schedule::Part& part : schedule.parts) {
    EXPECT_LE(part.ands, kPartAnds);
    layers += part.layers;
    gates += part.ands + part.xors;
  }
  EXPECT_EQ(layers, schedule.layers.size());
  EXPECT_EQ(gates, schedule.gates.size());
}

TEST(Schedule, KeepsTheFunctionOfRandomCircuits) {
  std::mt19937_64 generator(13);
  Plain c;
  for (int round = 0; round < 2000; ++round) {
    const Circuit circuit = random_circuit(generator);
    const Schedule schedule = schedule_of(circuit);
    const GateCounts counts = counts_of(folded(circuit));
    ASSERT_EQ(schedule.gates.size(), counts.ands + counts.xors);
    const Bits<Plain> x = random_slices(generator, circuit.input_bits());
    ASSERT_EQ(run_schedule(schedule, x), apply(c, circuit, BitSpan<Plain>(x))) << round;
    expect_layers(schedule);
    expect_parts(schedule);
  }
}

TEST(Schedule, HasOneLayerForEachAndOfTheDepth) {
  for (const char* name : {"aes128-encrypt", "sha256-shallow", "open-if-equal"}) {
    const Circuit circuit = circuit_named(name);
    const Schedule schedule = schedule_of(circuit);
    expect_layers(schedule);
    std::size_t layers = 0;
    for (const Schedule::Layer& layer : schedule.layers) layers += layer.ands > 0 ? 1 : 0;
    EXPECT_EQ(layers, counts_of(circuit).and_depth) << name;
  }
}

TEST(Schedule, HoldsLiveWiresOnly) {
  // Round keys and a few states, where the circuit has 30,000 wires.
  EXPECT_LT(schedule_of(circuit_named("aes128-encrypt")).slots, 1408u + 1500);
  EXPECT_LT(schedule_of(circuit_named("sha256")).slots, 3000u);
  // Ten blocks of a hash need as many slots as one, but for their inputs.
  const std::uint32_t one = schedule_of(circuit_named("sha1")).slots,
                      ten = schedule_of(circuit_named("sha1:10")).slots;
  EXPECT_LT(ten, one + 9 * 512 + 600);
}

TEST(Schedule, ALargeCircuitHasParts) {
  const Circuit circuit = circuit_named("sha512:3");
  const GateCounts counts = counts_of(circuit);
  ASSERT_GT(counts.ands, 2 * kPartAnds);
  const Schedule schedule = schedule_of(circuit);
  expect_parts(schedule);
  EXPECT_GE(schedule.parts.size(), 3u);
  std::mt19937_64 generator(17);
  Plain c;
  const Bits<Plain> x = random_slices(generator, circuit.input_bits());
  EXPECT_EQ(run_schedule(schedule, x), apply(c, circuit, BitSpan<Plain>(x)));
}

TEST(Schedule, ALayerOfMoreAndsThanAPartIsCut) {
  Circuit circuit{{{"x", 600}}, {{"y", 1}}, {}, {}};
  // All products of two of 600 bits: 179,700 ANDs at depth 1, and their sum.
  Wire sum = 0;
  for (Wire a = 0; a < 600; ++a)
    for (Wire b = 0; b < a; ++b) {
      circuit.gates.push_back({Op::kAnd, a, b});
      circuit.gates.push_back({Op::kXor, sum, static_cast<Wire>(circuit.wires() - 1)});
      sum = static_cast<Wire>(circuit.wires() - 1);
    }
  circuit.output_wires = {sum};
  const Schedule schedule = schedule_of(circuit);
  expect_parts(schedule);
  EXPECT_EQ(schedule.parts.size(), 3u);
  std::mt19937_64 generator(19);
  Plain c;
  const Bits<Plain> x = random_slices(generator, 600);
  EXPECT_EQ(run_schedule(schedule, x), apply(c, circuit, BitSpan<Plain>(x)));
}

TEST(Schedule, OfNothing) {
  const Circuit circuit{
      {{"x", 3}}, {{"y", 5}}, {{Op::kOne}, {Op::kZero}, {Op::kNot, 1}}, {2, 3, 4, 5, 0}};
  const Schedule schedule = schedule_of(circuit);
  EXPECT_TRUE(schedule.gates.empty());
  EXPECT_EQ(schedule.slots, 3u);
  EXPECT_EQ(run_schedule(schedule, {5, 6, 7}), (Bits<Plain>{7, ~Slice{0}, 0, ~Slice{6}, 5}));
}

}  // namespace
}  // namespace tkdc::circuit
