// SPDX-License-Identifier: Apache-2.0
#include "lut/pair_dealer.h"

#include "lut/opening_check.h"

namespace tkdc::lut {

Result<void> PairDealer::check(pair::Verdict verdict) {
  return session().equal(digest_of_openings(session().take_expected()), verdict);
}

}  // namespace tkdc::lut
