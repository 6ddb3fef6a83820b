// SPDX-License-Identifier: Apache-2.0
// Two servers into whose session a deal enters, and what a server may try with it:
// dealt_entry_test.cc has it refused, unchecked_test.cc done.
#pragma once

#include "pair/dealt_entry.h"
#include "pair/dealt_parties.h"

namespace tkdc::pair {

struct Entry {
  Entry(std::size_t bits, std::size_t of_pad, std::uint64_t seed = 1) : pad(of_pad) {
    std::mt19937_64 generator(seed);
    secret = random_bits(generator, bits);
    dealt = deal_input(secret, Label{}, draw_coin());
    for (const std::size_t p : {0, 1}) share[p] = dealt[p].share;
  }

  Result<void> serve(Session& session, std::size_t p) {
    deltas[p] = session.deltas();
    auto masks = EntryMasks::draw(session, secret.size());
    if (!masks) return masks.error();
    entered_at[p] = session.channel().sent();
    dealt[p].session = session.id();
    auto entered = enter_dealt(session, std::move(*masks), std::move(dealt[p]), pad);
    went[p] = entered.went();
    stands[p] = session.stands().ok();
    ended[p] = session.ended_by();
    if (!entered) return stands[p] ? Result<void>() : entered.error();
    input[p] = std::move(entered->input);
    pad_bits[p] = entered->pad.size();
    return {};
  }
  Outcome& run(int cheat = 0, Change change = {}) {
    return outcome =
               with_sessions([&](Session& session) { return serve(session, 0); },
                             [&](Session& session) { return serve(session, 1); }, cheat, change);
  }

  std::size_t pad;
  Bits secret, share[2];
  std::array<Dealt, 2> dealt;
  Held input[2];
  Deltas deltas[2] = {{Side::kGarbler, {}}, {Side::kEvaluator, {}}};
  Outcome outcome;
  std::uint64_t entered_at[2] = {0, 0};
  std::size_t pad_bits[2] = {0, 0};
  Went went[2] = {Went::kRefused, Went::kRefused};
  EndedBy ended[2] = {EndedBy::kNothing, EndedBy::kNothing};
  bool stands[2] = {false, false};
};

// A server enters its share with a bit flipped, and proves that with the tags it has.
inline FlippedPad flip_an_entered_bit(int cheat) {
  Entry entry(100, 20);
  entry.dealt[static_cast<std::size_t>(cheat)].share[5] ^= 1;
  entry.run();
  if (entry.went[1 - cheat] != Went::kDone) return {false, entry.stands[1 - cheat]};
  const auto bit = [&](std::size_t k) {
    return entry.input[0].bits[k].own() ^ entry.input[1].bits[k].own();
  };
  return {bit(5) != entry.secret[5] && bit(6) == entry.secret[6], entry.stands[1 - cheat]};
}

// A server says another share than it proves: what ended the honest one's session.
inline EndedBy enter_one_and_prove_another(int cheat) {
  Entry entry(100, 20), honest(100, 20);
  honest.run();
  entry.run(cheat, {honest.entered_at[cheat], 0x20});
  return entry.ended[1 - cheat];
}

}  // namespace tkdc::pair
