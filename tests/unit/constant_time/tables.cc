// SPDX-License-Identifier: Apache-2.0
// What two servers do with a deal, with tables and with masks that they have made: of these, of Δ
// and of shares nothing is public but what is opened.
#include "tables.h"

#include <valgrind/memcheck.h>

#include <cstdio>

#include "lut/held_parties.h"
#include "lut/inside.h"
#include "pair/dealt_entry_parties.h"

namespace tkdc {
namespace {

template <class T>
void make_secret(std::span<T> of) {
  VALGRIND_MAKE_MEM_UNDEFINED(of.data(), of.size_bytes());
}
void make_secret(const pair::Session& session) {
  make_secret(std::span(&session.deltas().delta, 1));
}
bool is_secret(const pair::Held& held) {
  garble::Label undefined{};
  VALGRIND_GET_VBITS(&held.bits[0].mac, &undefined, sizeof undefined);
  return (undefined.low | undefined.high) != 0;
}

void print_errors(const ot::Outcome& outcome) {
  for (const auto& error : outcome.error)
    if (error) std::printf("%s\n", error->c_str());
}

// A block, one way.
Result<void> block(lut::PairDealer& dealer, std::size_t p, lut::NormTables::Way way, bool& secret) {
  const bool forward = way == lut::NormTables::Way::kForward;
  auto key = lut::held_of(dealer, lut::shares_of(Bytes(16, 1), 1)[p]);
  auto text = lut::held_of(dealer, lut::shares_of(Bytes(16, 2), 2)[p]);
  auto schedule = lut::NormTables::make(dealer, lut::schedule_lookups(16));
  const std::size_t lookups = lut::cts_lookups(16, 16);
  auto tables = forward ? lut::NormTables::make(dealer, lookups)
                        : lut::NormTables::make_inverse(dealer, lookups);
  auto out = lut::BitsOut::make(dealer, 16);
  if (!key || !text || !schedule || !tables || !out) return fail("not made");
  make_secret(std::span(key->bits));
  make_secret(std::span(text->bits));
  for (const lut::NormTables* each : {&*schedule, &*tables}) make_secret(lut::Inside::of(*each));
  make_secret(lut::Inside::bits(*out));
  make_secret(dealer.session());
  auto keys = lut::RoundKeys::expand(dealer, *schedule, *key);
  if (!keys) return keys.error();
  auto made = (forward ? lut::seal_held : lut::open_held)(dealer, *tables, *out, *keys, *text);
  if (!made) return made.error();
  secret = is_secret(*made);
  return {};
}

}  // namespace

bool dealt_entered() {
  pair::Entry entry(100, 20);
  bool secret[2] = {false, false};
  const auto serve = [&](std::size_t p) {
    return [&, p](pair::Session& session) -> Result<void> {
      pair::Dealt& dealt = entry.dealt[p];
      const auto draw = [&](std::span<pair::AuthBit> bits) -> Result<void> {
        auto drawn = session.draw(bits);
        make_secret(bits);
        return drawn;
      };
      auto masks = pair::EntryMasks::draw(session, entry.secret.size(), draw);
      if (!masks) return masks.error();
      make_secret(std::span(dealt.share));
      make_secret(std::span(dealt.tags));
      make_secret(std::span(&dealt.mask, 1));
      make_secret(std::span(&dealt.peers_key, 1));
      make_secret(session);
      dealt.session = session.id();
      auto entered = enter_dealt(session, std::move(*masks), std::move(dealt), 20);
      if (!entered) return entered.error();
      secret[p] = is_secret(entered->input);
      return {};
    };
  };
  const ot::Outcome outcome = pair::with_sessions(serve(0), serve(1));
  print_errors(outcome);
  const bool done = outcome.ok() && secret[0] && secret[1];
  std::printf("two servers' entry of a deal: %s\n", done ? "ran" : "FAILED");
  return done;
}

bool looked_up() {
  bool done = true;
  for (const auto way : {lut::NormTables::Way::kForward, lut::NormTables::Way::kInverse}) {
    bool secret[2] = {false, false};
    const ot::Outcome outcome = lut::with_many_bits(
        [&](lut::PairDealer& dealer, int p) {
          return block(dealer, static_cast<std::size_t>(p), way, secret[p]);
        },
        0, {}, false);
    done = done && outcome.ok() && secret[0] && secret[1];
    print_errors(outcome);
  }
  std::printf("two servers' lookup tables: %s\n", done ? "ran" : "FAILED");
  return done;
}

}  // namespace tkdc
