// SPDX-License-Identifier: Apache-2.0
// The control of attack_test.cc, linked with unchecked_labels.cc: without the garbler's check, one
// flipped value reads a shared secret bit, every time and unseen.
#include "pair/rogue_evaluator.h"

namespace tkdc::pair {
namespace {

TEST(PairControl, AFlippedValueReadsASecretFromAGarblerThatDoesNotCheck) {
  std::mt19937_64 generator(1);
  for (int run = 0; run < 8; ++run) {
    const Bits inputs = random_bits(generator, 3);
    const Flipped flipped = attack_by_flip(inputs);
    ASSERT_FALSE(flipped.rogues_error) << *flipped.rogues_error;
    ASSERT_TRUE(flipped.read);
    EXPECT_EQ(*flipped.read, inputs[2]);
  }
}

}  // namespace
}  // namespace tkdc::pair
