// SPDX-License-Identifier: Apache-2.0
// rep3/verify/batch_result.cc without a verdict: the same packets, and every batch is good,
// whatever was opened. What wrong messages of a layer then lead to is what tests/attack must see;
// no program that is installed has this.
#include <algorithm>

#include "rep3/verify/verifier.h"

namespace tkdc {

Task<bool> Verifier::all_find_it_good(bool, std::size_t products) {
  FromBoth others = co_await rep3_.lane.agree(Bytes(), Bytes(1, 1));
  opened_ -= std::min(opened_, products);
  co_return true;
}

}  // namespace tkdc
