// SPDX-License-Identifier: Apache-2.0
// Octets as authenticated bits of a session between two parties, and back.
#pragma once

#include "lut/held_aes.h"
#include "lut/lut_parties.h"
#include "lut/norm_tables.h"

namespace tkdc::lut {

using pair::Held;

// Bits of octets of which each party has a share, as a circuit or a bridge would have left them.
inline Result<Held> held_of(PairDealer& dealer, const Bytes& share) {
  Held out{dealer.session().id(), AuthBits(8 * share.size())};
  if (auto drawn = dealer.draw(std::span(out.bits)); !drawn) return drawn.error();
  pair::Bits own = pair::unpacked(share, out.bits.size());
  for (std::size_t k = 0; k < own.size(); ++k)
    own[k] ^= static_cast<std::uint8_t>(out.bits[k].own());
  Bytes octets = pair::packed(own);
  if (auto sent = dealer.session().channel().write(octets); !sent) return sent.error();
  if (auto got = dealer.session().channel().read(octets); !got) return got.error();
  const pair::Bits peers = pair::unpacked(octets, own.size());
  for (std::size_t k = 0; k < own.size(); ++k)
    out.bits[k] = dealer.session().deltas().moved(out.bits[k], own[k], peers[k]);
  return out;
}

// What both hold of one thing, with their Δ.
struct BothHeld {
  Held of[2];
  pair::Deltas deltas[2] = {{Side::kGarbler, {}}, {Side::kEvaluator, {}}};

  // The octets, if each bit has the MAC that the other party's key says.
  Bytes octets() const {
    pair::Bits bits(of[0].bits.size());
    EXPECT_EQ(of[1].bits.size(), bits.size());
    for (std::size_t k = 0; k < bits.size(); ++k) {
      const AuthBit &a = of[0].bits[k], &b = of[1].bits[k];
      EXPECT_EQ(a.mac, deltas[1].expected(b, a.own())) << k;
      EXPECT_EQ(b.mac, deltas[0].expected(a, b.own())) << k;
      bits[k] = static_cast<std::uint8_t>(a.own() ^ b.own());
    }
    return pair::packed(bits);
  }
};

inline std::array<Bytes, 2> shares_of(const Bytes& octets, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::array<Bytes, 2> out{random_octets(generator, octets.size()), octets};
  for (std::size_t k = 0; k < octets.size(); ++k) out[1][k] ^= out[0][k];
  return out;
}

}  // namespace tkdc::lut
