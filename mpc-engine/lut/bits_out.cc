// SPDX-License-Identifier: Apache-2.0
#include "lut/bits_out.h"

#include <algorithm>
#include <string>

#include "lut/sizes.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

Label octet_of_bits(const AuthBit* bits, const Label& delta) {
  Label labels[kOctetBits];
  std::transform(bits, bits + kOctetBits, labels,
                 [&](const AuthBit& bit) { return label_of(bit, delta); });
  return octet_of(labels);
}

}  // namespace

Result<Labels> octets_of(PairDealer& dealer, const pair::Held& held) {
  if (auto good = dealer.session().stands(); !good) return good.error();
  if (!dealer.session().is(held.session)) return fail("lut: bits of another session");
  if (held.bits.size() % kOctetBits != 0)
    return fail("lut: " + std::to_string(held.bits.size()) + " bits are no whole octets");
  Labels out(held.bits.size() / kOctetBits);
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = octet_of_bits(&held.bits[k * kOctetBits], dealer.session().delta());
  garble::wipe_stack();
  return out;
}

Result<BitsOut> BitsOut::make(PairDealer& dealer, std::size_t octets) {
  BitsOut out;
  out.bits_.resize(kOctetBits * octets);
  if (auto drawn = dealer.draw(std::span(out.bits_)); !drawn) return drawn.error();
  out.stock_ = Stock(dealer.session(), octets, "masks of octets that leave");
  return out;
}

Result<pair::Held> BitsOut::take(PairDealer& dealer, std::span<const Label> octets) {
  auto taken = stock_.take(dealer.session(), octets.size());
  if (!taken) return taken.error();
  const auto serving = std::span(bits_).subspan(*taken * kOctetBits, octets.size() * kOctetBits);
  pair::Held out{dealer.session().id(), AuthBits(serving.begin(), serving.end())};
  wipe(serving);
  Labels masked(octets.begin(), octets.end());
  for (std::size_t k = 0; k < masked.size(); ++k)
    masked[k] = masked[k] ^ octet_of_bits(&out.bits[k * kOctetBits], dealer.session().delta());
  garble::wipe_stack();
  SecretVector opened(octets.size());  // shares, until they have been exchanged
  if (auto done = dealer.open(masked, opened); !done) return done.error();
  if (auto good = dealer.check(pair::Verdict::kOnOpenings); !good) return good.error();
  for (std::size_t k = 0; k < out.bits.size(); ++k)
    out.bits[k] = dealer.session().deltas().plus(out.bits[k],
                                                 opened[k / kOctetBits] >> (k % kOctetBits) & 1u);
  return out;
}

}  // namespace tkdc::lut
