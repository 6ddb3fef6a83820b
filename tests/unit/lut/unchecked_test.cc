// SPDX-License-Identifier: Apache-2.0
// The controls of attack_test.cc, bits_out_test.cc and norm_tables_test.cc, linked with
// unchecked_openings.cc: what a party gets that opens something else, where nobody looks.
#include "lut/attack_parties.h"
#include "lut/bits_out_parties.h"
#include "lut/norm_tables.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

TEST(LutControl, APartyFlipsABitThatLeavesWhereOpeningsAreNotChecked) {
  for (const int cheat : {0, 1}) EXPECT_TRUE(flip_a_bit_that_leaves(cheat));
}

TEST(LutControl, AWrongIndexIsReadWhereOpeningsAreNotChecked) {
  constexpr std::size_t kFew = 5;
  Looked honest, looked;
  ASSERT_TRUE(look_up_all(NormTables::make, kFew, honest).ok());
  const Outcome outcome =
      look_up_all(NormTables::make, kFew, looked, 0, {honest.online_at[0], 0x20});
  ASSERT_TRUE(outcome.ok()) << outcome.error[1].value_or("");
  EXPECT_NE(looked.labels.of[0][0] ^ looked.labels.of[1][0],
            times(looked.labels.delta(), aes_sbox()[0]));
}

TEST(LutControl, AWrongEntryIsTakenWhereOpeningsAreNotChecked) {
  for (const int cheat : {0, 1}) {
    const Opened opened = look_up_and_open(0x53, cheat, 0x20);
    EXPECT_FALSE(opened.ended);
    EXPECT_EQ(opened.value, aes_sbox()[0x53] ^ 0x20);
  }
}

}  // namespace
}  // namespace tkdc::lut
