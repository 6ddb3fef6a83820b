// SPDX-License-Identifier: Apache-2.0
// Folding keeps the function, and takes away what it says.
#include "circuit/recorder.h"
#include "random_circuit.h"

namespace tkdc::circuit {
namespace {

TEST(Fold, KeepsTheFunctionOfRandomCircuits) {
  std::mt19937_64 generator(11);
  Plain c;
  for (int round = 0; round < 2000; ++round) {
    const Circuit circuit = random_circuit(generator);
    ASSERT_TRUE(is_sound(circuit));
    const Circuit small = folded(circuit);
    ASSERT_TRUE(is_sound(small));
    ASSERT_EQ(small.inputs, circuit.inputs);
    ASSERT_EQ(small.outputs, circuit.outputs);
    const GateCounts before = counts_of(circuit), after = counts_of(small);
    ASSERT_LE(after.ands, before.ands);
    ASSERT_LE(after.xors, before.xors);
    ASSERT_LE(after.and_depth, before.and_depth);
    const Bits<Plain> x = random_slices(generator, circuit.input_bits());
    ASSERT_EQ(apply(c, small, BitSpan<Plain>(x)), apply(c, circuit, BitSpan<Plain>(x))) << round;
    ASSERT_EQ(folded(small), small) << "once is enough";
  }
}

// A Recorder with two inputs of a bit, and what it keeps for one output.
GateCounts kept(Recorder::Bit (*body)(Recorder&, Recorder::Bit, Recorder::Bit)) {
  Recorder c;
  const auto x = c.input("x", 1), y = c.input("y", 1);
  const Recorder::Bit out = body(c, x[0], y[0]);
  c.output("out", BitSpan<Recorder>(&out, 1));
  return counts_of(c.finish());
}
using R = Recorder;
using B = Recorder::Bit;

TEST(Fold, Constants) {
  EXPECT_EQ(kept([](R& c, B x, B) { return c.and_of(x, c.constant(false)); }), GateCounts{});
  EXPECT_EQ(kept([](R& c, B x, B) { return c.and_of(c.constant(true), x); }), GateCounts{});
  EXPECT_EQ(kept([](R& c, B x, B) { return c.xor_of(x, c.constant(false)); }), GateCounts{});
  EXPECT_EQ(kept([](R& c, B x, B) { return c.xor_of(x, c.constant(true)); }),
            (GateCounts{0, 0, 1, 0}));
  EXPECT_EQ(kept([](R& c, B x, B) { return c.and_of(x, c.not_of(x)); }), GateCounts{});
}

TEST(Fold, NotGoesThroughXor) {
  EXPECT_EQ(kept([](R& c, B x, B y) { return c.xor_of(c.not_of(x), c.not_of(y)); }),
            (GateCounts{0, 1, 0, 0}));
  EXPECT_EQ(kept([](R& c, B x, B y) { return c.not_of(c.xor_of(c.not_of(x), y)); }),
            (GateCounts{0, 1, 0, 0}));
  EXPECT_EQ(kept([](R& c, B x, B y) { return c.not_of(c.not_of(c.and_of(x, y))); }),
            (GateCounts{1, 0, 0, 1}));
}

TEST(Fold, EqualGatesAreOneAndXorsCancel) {
  EXPECT_EQ(kept([](R& c, B x, B y) { return c.xor_of(c.and_of(x, y), c.and_of(y, x)); }),
            GateCounts{});
  EXPECT_EQ(kept([](R& c, B x, B y) { return c.xor_of(c.xor_of(x, y), y); }), GateCounts{});
}

TEST(Fold, GatesForNothingAreLeftOut) {
  EXPECT_EQ(kept([](R& c, B x, B y) {
              c.and_of(c.xor_of(x, y), y);
              return x;
            }),
            GateCounts{});
}

TEST(Circuit, KnowsWhatIsNotSound) {
  Circuit circuit{{{"x", 2}}, {{"y", 1}}, {{Op::kAnd, 0, 1}}, {2}};
  EXPECT_TRUE(is_sound(circuit));
  Circuit other = circuit;
  other.gates[0].b = 2;
  EXPECT_FALSE(is_sound(other)) << "its own result";
  other = circuit;
  other.output_wires = {3};
  EXPECT_FALSE(is_sound(other));
  other.output_wires = {};
  EXPECT_FALSE(is_sound(other));
}

}  // namespace
}  // namespace tkdc::circuit
