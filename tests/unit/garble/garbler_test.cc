// SPDX-License-Identifier: Apache-2.0
// Whole circuits, garbled and evaluated, against the evaluation in the clear.
#include "garble/garbler.h"

#include <cstring>
#include <set>

#include "circuits/catalogue.h"
#include "garbled.h"
#include "support/own_stack.h"

namespace tkdc::garble {
namespace {

using circuit::Bits;
using circuit::BitSpan;
using circuit::Circuit;
using circuit::Plain;
using circuit::random_circuit;
using circuit::random_slices;
using circuit::Schedule;
using circuit::schedule_of;

Bits<Plain> in_the_clear(const Circuit& circuit, const Bits<Plain>& inputs, std::size_t instances) {
  Plain c;
  Bits<Plain> out = circuit::apply(c, circuit, BitSpan<Plain>(inputs));
  for (auto& slice : out) slice &= (std::uint64_t{1} << instances) - 1;
  return out;
}

TEST(Garbling, RandomCircuitsComputeWhatTheyDoInTheClear) {
  std::mt19937_64 generator(21);
  for (const std::size_t instances : {std::size_t{1}, kSideBySide})
    for (const Kernel* kernel : kernels()) {
      Pair pair(instances, *kernel);
      for (int round = 0; round < 150; ++round) {
        const Circuit circuit = random_circuit(generator);
        const Schedule schedule = schedule_of(circuit);
        const Bits<Plain> x = random_slices(generator, circuit.input_bits());
        // Pieces of any size that holds a table.
        const std::size_t room = 32 + generator() % 200;
        ASSERT_EQ(pair.run(schedule, x, room), in_the_clear(circuit, x, instances))
            << kernel->name << " " << round;
      }
    }
}

TEST(Garbling, AllKernelsMakeTheSameOctets) {
  const Circuit circuit = circuit::circuit_named("sha256");
  const Schedule schedule = schedule_of(circuit);
  std::mt19937_64 generator(22);
  const Bits<Plain> x = random_slices(generator, circuit.input_bits());
  for (const std::size_t instances : {std::size_t{1}, kSideBySide}) {
    Pair reference(instances, *kernel_reference());
    const Bits<Plain> expected = reference.run(schedule, x);
    EXPECT_EQ(expected, in_the_clear(circuit, x, instances));
    for (const Kernel* kernel : kernels()) {
      // What one kernel garbles another one evaluates.
      Pair pair(instances, *kernel, 1, kernel_reference());
      EXPECT_EQ(pair.run(schedule, x, 10'000), expected) << kernel->name;
      EXPECT_EQ(pair.tables, reference.tables) << kernel->name;
    }
  }
}

TEST(Garbling, InstancesSideBySideAreThoseOfTheirSeedsAlone) {
  const Schedule schedule = schedule_of(circuit::circuit_named("aes128"));
  std::mt19937_64 generator(23);
  const Bits<Plain> x = random_slices(generator, 256);
  Pair together(kSideBySide);
  together.run(schedule, x);
  const auto seeds = seeds_of(1, kSideBySide);
  std::set<Bytes> different;
  for (std::size_t s = 0; s < kSideBySide; ++s) {
    const ByteSpan seed = seeds[s];
    Garbler alone(std::span(&seed, 1));
    const SecretLabels zero = alone.draw_inputs(256);
    alone.begin(schedule, zero.span());
    Bytes tables(alone.next_octets(1 << 20));
    std::uint8_t* place = tables.data();
    EXPECT_EQ(alone.garble(std::span(&place, 1), tables.size()), tables.size());
    EXPECT_TRUE(alone.done());
    EXPECT_EQ(tables, together.tables[s]);
    different.insert(tables);
  }
  EXPECT_EQ(different.size(), kSideBySide);
}

// FIPS 197, appendix C.1, and FIPS 180-4's "abc".
TEST(Garbling, KnownAnswers) {
  const auto run = [](const char* name, std::initializer_list<const char*> inputs) {
    const Schedule schedule = schedule_of(circuit::circuit_named(name));
    Bits<Plain> x;
    for (const char* hex : inputs)
      for (const auto slice : circuit::slices_of(ByteSpan(circuit::octets(hex))))
        x.push_back(slice);
    const Bits<Plain> out = Pair(1).run(schedule, x);
    return circuit::bytes_of(out, 0);
  };
  EXPECT_EQ(run("aes128", {"000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff"}),
            circuit::octets("69c4e0d86a7b0430d8cdb78070b4c55a"));
  const std::string block = "61626380" + std::string(2 * 59, '0') + "18";
  EXPECT_EQ(run("sha256", {"6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19",
                           block.c_str()}),
            circuit::octets("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

TEST(Garbling, ConstantsAndInputsAsOutputs) {
  const Circuit circuit{{{"x", 3}},
                        {{"y", 5}},
                        {{circuit::Op::kOne}, {circuit::Op::kZero}, {circuit::Op::kNot, 1}},
                        {2, 3, 4, 5, 0}};
  Pair pair(kSideBySide);
  EXPECT_EQ(pair.run(schedule_of(circuit), {5, 6, 7}), (Bits<Plain>{7, 15, 0, 9, 5}));
  EXPECT_TRUE(pair.tables[0].empty());
}

// Of a chain of circuits each gets the labels that the last one has left.
TEST(Garbling, CircuitsFollowEachOtherUnderNewKeys) {
  const Circuit circuit = circuit::circuit_named("aes128");
  const Schedule schedule = schedule_of(circuit);
  const std::size_t rounds = 45;  // 288,000 ANDs: keys change twice
  Pair pair(1);
  std::mt19937_64 generator(24);
  Bits<Plain> x = random_slices(generator, 256);
  SecretLabels zero = pair.garbler.draw_inputs(256), labels(256);
  for (std::size_t k = 0; k < 256; ++k)
    labels.span()[k] = zero.span()[k] ^ pair.garbler.delta().where(x[k] & 1);
  for (std::size_t round = 0; round < rounds; ++round) {
    pair.garbler.begin(schedule, zero.span());
    pair.evaluator.begin(schedule, labels.span());
    pair.go(50'000);
    Plain c;
    const Bits<Plain> y = circuit::apply(c, circuit, BitSpan<Plain>(x));
    for (std::size_t k = 0; k < 128; ++k) {
      ASSERT_EQ(pair.opened(k, 0), y[k] & 1);
      x[128 + k] = y[k];
      zero.span()[128 + k] = pair.garbler.output(k);
      labels.span()[128 + k] = pair.evaluator.output(k);
    }
  }
  const std::uint64_t ands = rounds * 6400;
  EXPECT_EQ(pair.garbler.tweak(), 2 * ands);
  EXPECT_EQ(pair.tables[0].size(), ands * kTableBytes + 3 * kLabelBytes);
  // The keys stand where they have to, and differ.
  std::set<Bytes> keys;
  for (std::size_t window = 0; window < 3; ++window) {
    const auto at = pair.tables[0].begin() +
                    static_cast<long>(window * (kAndsPerKey * kTableBytes + kLabelBytes));
    keys.insert(Bytes(at, at + kLabelBytes));
  }
  EXPECT_EQ(keys.size(), 3u);
}

TEST(Garbling, TweaksBelowTheFirstAreLeftAlone) {
  const Schedule schedule = schedule_of(circuit::circuit_named("add64"));
  const auto seeds = seeds_of(3, 1);
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{130}, kTweaksPerKey - 20}) {
    const ByteSpan seed = seeds[0];
    Garbler garbler(std::span(&seed, 1), fastest_kernel(), first);
    Evaluator evaluator(1, fastest_kernel(), first);
    const SecretLabels zero = garbler.draw_inputs(128);
    garbler.begin(schedule, zero.span());
    evaluator.begin(schedule, zero.span());
    Bytes tables(garbler.next_octets(100'000));
    const std::size_t keys = first + 2 * 63 > kTweaksPerKey ? 2 : 1;
    EXPECT_EQ(tables.size(), 63 * kTableBytes + keys * kLabelBytes);
    std::uint8_t* place = tables.data();
    const std::uint8_t* from = tables.data();
    ASSERT_EQ(garbler.garble(std::span(&place, 1), tables.size()), tables.size());
    ASSERT_EQ(evaluator.evaluate(std::span(&from, 1), tables.size()), tables.size());
    for (std::size_t k = 0; k < 64; ++k) EXPECT_EQ(evaluator.output(k), garbler.output(k));
  }
}

// A control of the comparisons above: they see one changed bit of a key or a table.
TEST(Garbling, AChangedOctetGivesOtherLabels) {
  const Circuit circuit = circuit::circuit_named("aes-sbox");
  const Schedule schedule = schedule_of(circuit);
  const std::size_t octets = 32 * kTableBytes + kLabelBytes;
  for (std::size_t at = 0; at < octets; at += 5) {
    // Whether a half is used depends on a colour: with some labels it is.
    bool seen = false;
    for (std::uint8_t number = 0; number < 16 && !seen; ++number) {
      Pair pair(1, fastest_kernel(), number);
      pair.change = [&](std::vector<Bytes>& pieces) { pieces[0][at] ^= 0x10; };
      const SecretLabels zero = pair.garbler.draw_inputs(8);
      pair.begin(schedule, zero, Bits<Plain>(8, 0));
      pair.go(octets);
      for (std::size_t k = 0; k < 8; ++k) {
        const Label got = pair.evaluator.output(k), want = pair.garbler.output(k);
        seen |= got != want && got != (want ^ pair.garbler.delta());
      }
    }
    EXPECT_TRUE(seen) << at;
  }
}

TEST(Stack, HasNoDeltaWhenACircuitIsDone) {
  const Schedule schedule = schedule_of(circuits::record(*circuits::find_named("aes-sbox")));
  bool seen = false;
  for (const Kernel* kernel : kernels())
    for (const std::size_t instances : {std::size_t{1}, kSideBySide}) {
      Garbler garbler(spans_of(seeds_of(3, instances)), *kernel);
      const SecretLabels zero = garbler.draw_inputs(8);
      garbler.begin(schedule, zero.span());
      std::vector<Bytes> tables(instances, Bytes(32 * kTableBytes + kLabelBytes));
      std::vector<std::uint8_t*> places;
      for (Bytes& one : tables) places.push_back(one.data());
      // The control: in the middle of a circuit it is there.
      OwnStack middle, end;
      middle.run([&] { garbler.garble(places, 8 * kTableBytes); });
      ASSERT_FALSE(garbler.done());
      end.run([&] {
        while (!garbler.done()) garbler.garble(places, 32 * kTableBytes);
      });
      for (std::size_t s = 0; s < instances; ++s) {
        seen |= middle.has(garbler.delta(s));
        EXPECT_FALSE(end.has(garbler.delta(s))) << kernel->name;
      }
    }
  EXPECT_TRUE(seen);
}

TEST(Seeds, FollowTheStreamWhateverThePieces) {
  const SecretVector seed(kSeedBytes, 7);
  LabelStream whole(seed, Purpose::kInputs), pieces(seed, Purpose::kInputs);
  std::vector<Label> expected(100), got(100);
  whole.fill(expected);
  std::size_t at = 0;
  for (std::size_t size = 0; at < got.size(); ++size) {
    const std::size_t some = std::min(size, got.size() - at);
    pieces.fill(std::span(got).subspan(at, some));
    at += some;
  }
  EXPECT_EQ(got, expected);
  // Other purposes and seeds have other streams; Δ has its colour.
  EXPECT_NE(LabelStream(seed, Purpose::kKeys).next(), expected[0]);
  EXPECT_NE(LabelStream(SecretVector(kSeedBytes, 8), Purpose::kInputs).next(), expected[0]);
  for (std::uint8_t number = 0; number < 20; ++number)
    EXPECT_EQ(draw_delta(SecretVector(kSeedBytes, number)).colour(), 1u);
}

}  // namespace
}  // namespace tkdc::garble
