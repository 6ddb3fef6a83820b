// SPDX-License-Identifier: Apache-2.0
#include "mac/keys.h"

#include <cstdlib>
#include <string_view>

#include "field/gf128.h"

namespace tkdc {
namespace {

constexpr std::string_view kRoleLabel = "tkdc share MAC, role 1";
constexpr std::string_view kDeltaLabel = "tkdc share MAC, delta 1";
constexpr std::string_view kNameLabel = "tkdc share MAC, q 1";
constexpr std::size_t kKeyBytes = 32;

// A pseudo-random function: BLAKE2b under a key.
SecretVector derive(ByteSpan key, const Bytes& input, std::size_t bytes) {
  SecretVector out(bytes);
  crypto_generichash(out.data(), out.size(), input.data(), input.size(), key.data(), key.size());
  return out;
}

SecretVector role_key(ByteSpan pair_key, const MacKeys::Where& where, const MacRole& role) {
  Bytes info;
  Writer w(info);
  w.text(kRoleLabel);
  w.raw(where.installation);
  w.u32(where.refresh_epoch);
  w.raw(where.id);
  w.u8(static_cast<std::uint8_t>(role.prover));
  w.u8(static_cast<std::uint8_t>(role.verifier));
  return derive(pair_key, info, kKeyBytes);
}

Bytes label(std::string_view text) {
  Bytes out;
  Writer(out).text(text);
  return out;
}

}  // namespace

MacKeys::MacKeys(const Where& where, ByteSpan with_prev, ByteSpan with_next) : where_(where) {
  const ByteSpan pair_keys[2] = {with_prev, with_next};
  std::size_t at = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    const int other = mac_neighbour(where.party, side);
    const int third = 3 - where.party - other;
    // Dealer and verifier share the key: this party deals for the other, and the other for it.
    for (const MacRole role : {MacRole{third, other}, MacRole{third, where.party}}) {
      const SecretVector key = role_key(pair_keys[side], where, role);
      keys_[at++] = {role, key, derive(key, label(kDeltaLabel), kGf128Bytes)};
    }
  }
}

const MacKeys::RoleKey& MacKeys::key_of(const MacRole& role) const {
  for (const RoleKey& key : keys_)
    if (key.role == role) return key;
  std::abort();  // our own bug: this party is the prover, which has no key
}

ByteSpan MacKeys::delta(const MacRole& role) const { return key_of(role).delta; }

void MacKeys::q(const MacRole& role, ByteSpan name, MutableByteSpan out) {
  Bytes input;
  Writer w(input);
  w.text(kNameLabel);
  w.bytes(name);
  const SecretVector key = derive(key_of(role).stream_key, input, kKeyBytes);
  stream_.begin(key);
  stream_.take(out);
}

}  // namespace tkdc
