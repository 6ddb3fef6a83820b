// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "rep3/verify/verifier.h"

namespace tkdc {
namespace {

constexpr const char* kFailed = "the verification of messages failed";

}  // namespace

Task<bool> Verifier::all_find_it_good(bool mine, std::size_t products) {
  const std::uint8_t good = mine ? 1 : 0;
  if (good != 1) rep3_.lane.deviates_with_this_tick(kFailed);
  FromBoth others = co_await rep3_.lane.agree(Bytes(), Bytes(1, good));
  opened_ -= std::min(opened_, products);
  if (good != 1 || others.prev[0] != 1 || others.next[0] != 1) {
    rep3_.lane.set_deviation(kFailed);
    co_return false;
  }
  co_return true;
}

}  // namespace tkdc
