// SPDX-License-Identifier: Apache-2.0
// MAC keys of one party: what it needs to deal MACs to both others, and to check theirs.
//
//   tag = q + X Delta in GF(2^128), for each 16 octets X of a component
//
// Each two parties share one pair key for a MAC key's whole life. From it come, for each role that
// the two are dealer and verifier of, Delta, and q as a stream that is bound to what is
// authenticated and to its dealing. The prover knows neither.
//
// Secret: everything but the id. Used by one lane's thread.
#pragma once

#include <memory>

#include "base/codec.h"
#include "mac/role.h"
#include "mac/stream.h"

namespace tkdc {

// Which MAC key: a digest of the session that made it. Who has two of them keeps them apart by it.
using MacKeyId = std::array<std::uint8_t, 32>;

// One dealing of MACs, or one MAC check: no two have the same. Each party counts by itself, and
// takes it from nobody.
struct Dealing {
  std::array<std::uint8_t, 32> session{};
  std::uint32_t lane = 0;
  std::uint64_t number = 0;  // of the lane's dealings and checks, from 1
  bool operator==(const Dealing&) const = default;
};
inline constexpr std::size_t kDealingBytes = 32 + 4 + 8;

template <class AnyWriter>
void put_dealing(AnyWriter& w, const Dealing& dealing) {
  w.raw(dealing.session);
  w.u32(dealing.lane);
  w.u64(dealing.number);
}

inline Dealing get_dealing(Reader& r) {
  Dealing dealing;
  r.array(dealing.session);
  dealing.lane = r.u32();
  dealing.number = r.u64();
  return dealing;
}

class MacKeys {
 public:
  static constexpr std::size_t kPairBytes = 32;
  struct Where {
    std::array<std::uint8_t, 16> installation{};
    std::uint32_t refresh_epoch = 0;
    MacKeyId id{};
    int party = 0;
  };

  // The pair keys with the previous and with the next party, of kPairBytes each.
  MacKeys(const Where& where, ByteSpan with_prev, ByteSpan with_next);

  const MacKeyId& id() const { return where_.id; }
  int party() const { return where_.party; }

  // ---- roles that this party deals or verifies
  ByteSpan delta(const MacRole& role) const;
  // q for as many blocks as `out` has, of what `name` says. No two calls for different values may
  // have the same name: it has the dealing in it.
  void q(const MacRole& role, ByteSpan name, MutableByteSpan out);

 private:
  struct RoleKey {
    MacRole role;
    SecretVector stream_key, delta;
  };
  const RoleKey& key_of(const MacRole& role) const;

  Where where_;
  std::array<RoleKey, 4> keys_;  // two as dealer, two as verifier
  SecretStream stream_;
};

}  // namespace tkdc
