// SPDX-License-Identifier: Apache-2.0
#include "lut/held_aes.h"

#include <string>

namespace tkdc::lut {
namespace {

using Way = SboxWay;

Result<void> fits(const pair::Session& session, const SboxTables& tables, Way way,
                  std::size_t wanted) {
  if (tables.way() != way)
    return fail(
        "lut: these tables go the other way: to encrypt takes the S-box, to decrypt its inverse");
  return tables.fits(session, wanted);
}

Substitute by(PairDealer& dealer, SboxTables& tables) {
  return [&](std::span<Label> octets) { return tables.look_up(dealer, octets); };
}

}  // namespace

Result<RoundKeys> RoundKeys::expand(PairDealer& dealer, SboxTables& forward,
                                    const pair::Held& key) {
  auto octets = octets_of(dealer, key);
  if (!octets) return octets.error();
  if (octets->size() != 16 && octets->size() != 32)
    return fail("lut: a key of " + std::to_string(octets->size()) +
                " octets: AES has 16 or 32 here");
  const auto there =
      fits(dealer.session(), forward, Way::kForward, schedule_lookups(octets->size()));
  if (!there) return there.error();
  auto labels = expand_key(dealer, by(dealer, forward), *octets);
  if (!labels) return labels.error();
  if (auto good = dealer.check(pair::Verdict::kOnOpenings); !good) return good.error();
  return RoundKeys(key.session, std::move(*labels));
}

class HeldAes {
 public:
  using Cipher = Result<Labels> (*)(const Substitute&, std::span<const Label>,
                                    std::span<const Label>);

  static Result<pair::Held> run(PairDealer& dealer, SboxTables& tables, Way way, BitsOut& out,
                                const RoundKeys& keys, const pair::Held& text) {
    if (!dealer.session().is(keys.session_)) return fail("lut: round keys of another session");
    auto octets = octets_of(dealer, text);
    if (!octets) return octets.error();
    if (octets->size() < kBlockOctets)
      return fail("lut: a text of " + std::to_string(octets->size()) + " octets is no block");
    auto there =
        fits(dealer.session(), tables, way, cts_lookups(keys.key_octets(), octets->size()));
    if (there) there = out.fits(dealer.session(), octets->size());
    if (!there) return there.error();
    const Cipher cipher = way == Way::kForward ? cts_encrypt : cts_decrypt;
    auto made = cipher(by(dealer, tables), keys.labels_, *octets);
    if (!made) return made.error();
    return out.take(dealer, *made);
  }
};

Result<pair::Held> seal_held(PairDealer& dealer, SboxTables& forward, BitsOut& out,
                             const RoundKeys& keys, const pair::Held& message) {
  return HeldAes::run(dealer, forward, Way::kForward, out, keys, message);
}

Result<pair::Held> open_held(PairDealer& dealer, SboxTables& inverse, BitsOut& out,
                             const RoundKeys& keys, const pair::Held& ciphertext) {
  return HeldAes::run(dealer, inverse, Way::kInverse, out, keys, ciphertext);
}

}  // namespace tkdc::lut
