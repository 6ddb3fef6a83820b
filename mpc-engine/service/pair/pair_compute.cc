// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_compute.h"

#include "pair/online.h"

namespace tkdc {

using pair::Went;

Result<PairOutput> compute_pair(const PairAtWork& at_work, const PairKindPtr& kind,
                                pair::Inputs& inputs) {
  auto prepared = at_work.reserve.take(kind);
  if (!prepared) return prepared.error();
  return compute_prepared(at_work, *kind, *prepared, inputs);
}

Result<PairOutput> compute_prepared(const PairAtWork& at_work, const PairKind& kind,
                                    pair::Prepared& prepared, pair::Inputs& inputs) {
  auto bits = pair::compute(at_work.session, prepared, inputs);
  if (!bits) {
    // Both have looked at all that a refusal is for, so the other one has not refused.
    if (bits.went() == Went::kRefused)
      return at_work.session.end(bits.error().message, pair::EndedBy::kState);
    return bits.error();
  }
  const auto bare = bits->begin() + static_cast<std::ptrdiff_t>(kind.bare_bits);
  return PairOutput{pair::Bits(bits->begin(), bare), pair::Bits(bare, bits->end())};
}

}  // namespace tkdc
