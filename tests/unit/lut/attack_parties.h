// SPDX-License-Identifier: Apache-2.0
// What a changed party tries with tables: attack_test.cc has it found, unchecked_test.cc done where
// openings are not checked.
#pragma once

#include "lut/inside.h"
#include "lut/lut_parties.h"

namespace tkdc::lut {

// What the honest party takes for the opened value; whether it ended instead.
struct Opened {
  bool ended = false;
  std::uint8_t value = 0;
};

inline Result<void> open_and_check(Dealer& dealer, const Labels& octet, std::uint8_t& value) {
  if (auto done = dealer.open(octet, {&value, 1}); !done) return done;
  return dealer.check();
}

// Of one octet that both look up and open. `in_table`: what party `cheat` adds to each entry of its
// table; `at_opening`: its own, of the label that it opens.
inline Opened look_up_and_open(std::uint8_t x, int cheat, std::uint8_t in_table,
                               const std::function<void(Dealer&, Label&)>& at_opening = {}) {
  Opened out;
  const Outcome outcome = with_dealers([&](PairDealer& dealer, int p) -> Result<void> {
    auto tables = Tables::make(dealer, aes_sbox(), 1);
    if (!tables) return tables.error();
    tables->expand();
    if (p == cheat)
      for (Label& entry : Inside::entries(*tables)) entry.low ^= in_table;
    Labels octets(1, dealer.multiple(x));
    if (auto done = tables->look_up(dealer, octets); !done) return done;
    if (p == cheat && at_opening) at_opening(dealer, octets[0]);
    std::uint8_t unheard = 0;
    return open_and_check(dealer, octets, p != cheat ? out.value : unheard);
  });
  out.ended = outcome.error[1 - cheat].has_value();
  return out;
}

}  // namespace tkdc::lut
