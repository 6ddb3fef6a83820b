// SPDX-License-Identifier: Apache-2.0
// Octets that become labels and bits again, and what a party may try: bits_out_test.cc has it
// refused, unchecked_test.cc done.
#pragma once

#include "lut/held_parties.h"

namespace tkdc::lut {

struct There {
  BothHeld held;
  Both<Labels> labels;
  std::uint64_t out_at[2] = {0, 0};
};

// Octets in, and out again. `between`: a party's own, of its labels before they leave.
inline Outcome there_and_back(const Bytes& octets, There& out, int cheat = 0, Change change = {},
                              const std::function<void(int, Labels&)>& between = {}) {
  const auto shares = shares_of(octets, 1);
  return with_dealers(
      [&](PairDealer& dealer, int p) -> Result<void> {
        out.held.deltas[p] = dealer.session().deltas();
        out.labels.part[p] = dealer.octet_part();
        auto held = held_of(dealer, shares[static_cast<std::size_t>(p)]);
        auto masks = BitsOut::make(dealer, octets.size());
        if (!held || !masks) return fail("nothing drawn");
        auto labels = octets_of(dealer, *held);
        if (!labels) return labels.error();
        out.labels.of[p] = *labels;
        out.out_at[p] = dealer.session().channel().sent();
        if (between) between(p, *labels);
        auto back = masks->take(dealer, *labels);
        if (!back) return back.error();
        out.held.of[p] = std::move(*back);
        return {};
      },
      cheat, change);
}

// A party opens its share with a bit flipped, and goes on as if that were the value. Whether both
// have it then, under right MACs.
inline bool flip_a_bit_that_leaves(int cheat) {
  There out;
  const Outcome outcome = there_and_back({1, 2, 3}, out, 0, {}, [&](int p, Labels& labels) {
    if (p == cheat) labels[1].low ^= 0x10;
  });
  return outcome.ok() && out.held.octets() == Bytes{1, 0x12, 3};
}

}  // namespace tkdc::lut
