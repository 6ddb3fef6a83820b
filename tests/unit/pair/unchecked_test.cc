// SPDX-License-Identifier: Apache-2.0
// The controls of attack_test.cc, chosen_rows_test.cc, dealt_test.cc, dealt_entry_test.cc and
// keys_test.cc, linked with unchecked_labels.cc, unchecked_inputs.cc and sigma_rows.cc: what each
// attack gets where the check or the hash for rows is not there.
#include "pair/chosen_rows.h"
#include "pair/dealt_entry_parties.h"
#include "pair/rogue_evaluator.h"
#include "pair/rogue_garbler.h"

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

// The evaluator ends where x_1 is 1 and comes to its end where it is 0: a true bit, each time.
TEST(PairControl, AWrongLabelReadsASecretFromAnEvaluatorThatDoesNotCheck) {
  for (const std::uint8_t x0 : {0, 1})
    for (const std::uint8_t x1 : {0, 1})
      for (int run = 0; run < 2; ++run)
        EXPECT_EQ(attack_by_a_label(x0, x1).has_value(), x1 == 1) << int{x0} << int{x1};
}

class ChosenRowsControl : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Side, ChosenRowsControl, testing::Values(0, 1));

// Rows that a party has chosen give it the other one's Δ with half of all pairs of tables.
TEST_P(ChosenRowsControl, TablesGiveDeltaWithTheHashOfGates) {
  const WatchedRandom watched;
  const std::vector<Label> roots = roots_for(GetParam());
  int learnt = 0;
  for (int run = 0; run < 16; ++run) {
    const Told told = tables_of_chosen_rows(GetParam(), roots);
    learnt += told.by_tables == told.peers_delta;
    EXPECT_TRUE(told.by_tables == told.peers_delta || told.by_tables == told.own_delta);
  }
  EXPECT_GT(learnt, 0);
}

TEST_P(ChosenRowsControl, TwoFlippedBitsAreTakenWithTheHashOfGates) {
  const WatchedRandom watched;
  const std::vector<Label> roots = roots_for(GetParam());
  for (int run = 0; run < 4; ++run) EXPECT_FALSE(flip_two_openings(GetParam(), roots));
}

TEST(PairControl, AServerFlipsABitOfTheAgentsOutputWhereMacsAreNotChecked) {
  for (const int cheat : {0, 1}) EXPECT_TRUE(flip_a_bit_of_the_pad(cheat).taken);
  EXPECT_TRUE(enter_one_share_and_prove_another().passed);
}

TEST(PairControl, AServerFlipsABitThatEntersWhereMacsAreNotChecked) {
  for (const int cheat : {0, 1}) EXPECT_TRUE(flip_an_entered_bit(cheat).taken);
  for (const int cheat : {0, 1}) EXPECT_EQ(enter_one_and_prove_another(cheat), EndedBy::kNothing);
}

TEST(PairControl, AStoredBitIsFlippedWhereNothingIsProved) {
  for (const std::size_t cheat : {0, 1}) EXPECT_TRUE(a_flipped_bit_is_taken(cheat));
  for (const std::size_t cheat : {0, 1}) EXPECT_TRUE(a_flipped_bit_is_taken_in_circuit(cheat));
}

TEST(PairControl, ABlockThatServesTwiceGivesAShareAway) {
  EXPECT_TRUE(read_by_two_proofs({.names_an_old_number = true, .careless = true}));
  EXPECT_TRUE(read_by_two_proofs({.restored = true}));
}

TEST(PairControl, TwoDeltasInOneProofGiveAShareAway) { EXPECT_TRUE(prove_under_two_deltas().read); }

TEST(PairControl, ADealThatServesTwiceGivesAShareAway) {
  EXPECT_TRUE(use_a_deal_twice().share);
  EXPECT_TRUE(use_a_deal_twice(true).share);
}

}  // namespace
}  // namespace tkdc::pair
