// SPDX-License-Identifier: Apache-2.0
// S-boxes by norms, every octet; labels of both put together, and messages changed.
#include "lut/norm_tables.h"

#include "lut/lut_parties.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kCount = 256;

TEST(LutNormTables, EveryOctetIsTheSboxsUnderItsMac) {
  Looked looked;
  const Outcome outcome = look_up_all(NormTables::make, kCount, looked);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  looked.expect_right(kCount, aes_sbox());
}

// Each of the three openings, and the check.
TEST(LutNormTables, EveryOnlineMessageChangedEndsIt) {
  constexpr std::size_t kFew = 5;
  Looked honest;
  const Outcome outcome = look_up_all(NormTables::make, kFew, honest);
  ASSERT_TRUE(outcome.ok());
  honest.expect_right(kFew, aes_sbox());
  for (const int cheat : {0, 1})
    for (std::uint64_t at = 0; at < outcome.sent[cheat] - honest.online_at[cheat];
         at += at < 3 * kFew ? 4 : 31) {
      Looked looked;
      const Outcome ended =
          look_up_all(NormTables::make, kFew, looked, cheat, {honest.online_at[cheat] + at, 0x20});
      EXPECT_TRUE(ended.error[1 - cheat]) << cheat << " " << at;
    }
}

}  // namespace
}  // namespace tkdc::lut
