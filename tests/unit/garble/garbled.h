// SPDX-License-Identifier: Apache-2.0
// Instances that are garbled and evaluated in memory, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "circuit/random_circuit.h"
#include "garble/evaluator.h"
#include "garble/garbler.h"

namespace tkdc::garble {

// Seeds of so many instances that follow from a number.
inline std::vector<SecretVector> seeds_of(std::uint8_t number, std::size_t instances) {
  std::vector<SecretVector> seeds(instances, SecretVector(kSeedBytes, number));
  for (std::size_t s = 0; s < instances; ++s) seeds[s][0] = static_cast<std::uint8_t>(s);
  return seeds;
}
inline std::vector<ByteSpan> spans_of(const std::vector<SecretVector>& seeds) {
  return {seeds.begin(), seeds.end()};
}

// Both sides of instances side by side. Bit s of a slice is instance s's.
class Pair {
 public:
  explicit Pair(std::size_t instances, const Kernel& by = fastest_kernel(), std::uint8_t seed = 1,
                const Kernel* other = nullptr)
      : garbler(spans_of(seeds_of(seed, instances)), by),
        evaluator(instances, other == nullptr ? by : *other) {}

  circuit::Bits<circuit::Plain> run(const circuit::Schedule& schedule,
                                    const circuit::Bits<circuit::Plain>& inputs,
                                    std::size_t room = 4096) {
    const SecretLabels zero = garbler.draw_inputs(inputs.size());
    begin(schedule, zero, inputs);
    go(room);
    circuit::Bits<circuit::Plain> out(schedule.output_bits.size(), 0);
    for (std::size_t k = 0; k < out.size(); ++k)
      for (std::size_t s = 0; s < garbler.count(); ++s) out[k] |= opened(k, s) << s;
    return out;
  }

  void begin(const circuit::Schedule& schedule, const SecretLabels& zero,
             const circuit::Bits<circuit::Plain>& inputs) {
    SecretLabels labels(zero.size());
    const std::size_t count = garbler.count();
    for (std::size_t k = 0; k < inputs.size(); ++k)
      for (std::size_t s = 0; s < count; ++s)
        labels.span()[k * count + s] =
            zero.span()[k * count + s] ^ garbler.delta(s).where(inputs[k] >> s & 1);
    garbler.begin(schedule, zero.span());
    evaluator.begin(schedule, labels.span());
  }

  // Both to the circuit's end, `room` octets of each instance at a time.
  void go(std::size_t room) {
    std::vector<Bytes> pieces(garbler.count(), Bytes(room));
    while (!garbler.done()) {
      std::vector<std::uint8_t*> to;
      std::vector<const std::uint8_t*> from;
      for (Bytes& piece : pieces) {
        to.push_back(piece.data());
        from.push_back(piece.data());
      }
      const std::size_t expected = garbler.next_octets(room);
      ASSERT_EQ(evaluator.next_octets(room), expected);
      ASSERT_EQ(garbler.garble(to, room), expected);
      if (change) change(pieces);
      for (std::size_t s = 0; s < pieces.size(); ++s)
        tables[s].insert(tables[s].end(), to[s], to[s] + expected);
      ASSERT_EQ(evaluator.evaluate(from, expected), expected);
    }
    ASSERT_TRUE(evaluator.done());
  }

  std::uint64_t opened(std::size_t bit, std::size_t s) {
    const Label zero = garbler.output(bit, s), got = evaluator.output(bit, s);
    // Either label of the wire, and no other.
    EXPECT_TRUE(got == zero || got == (zero ^ garbler.delta(s)));
    return got.colour() ^ zero.colour();
  }

  Garbler garbler;
  Evaluator evaluator;
  std::array<Bytes, kSideBySide> tables;  // all that was garbled
  std::function<void(std::vector<Bytes>&)> change;
};

}  // namespace tkdc::garble
