// SPDX-License-Identifier: Apache-2.0
// A key of enctypes 17 to 20 as both servers have it stored for a ticket: Ke, then Ki's pad states.
// And libkrb5, which has the key.
#pragma once

#include "cipher/derived_keys.h"
#include "pair/keys_parties.h"
#include "support/krb5_client.h"

namespace tkdc::pair {

inline Bits bits_of(ByteSpan octets) { return unpacked(octets, 8 * octets.size()); }
inline Bytes drawn_octets(std::size_t bytes) {
  Bytes out(bytes);
  randombytes_buf(out.data(), out.size());
  return out;
}

struct StoredEnctype {
  static constexpr std::uint32_t kUsage = 2;  // a ticket

  explicit StoredEnctype(std::uint32_t enctype)
      : number(std::to_string(enctype)), key(drawn_octets(enctype % 2 == 1 ? 16 : 32)),
        whole(enctype, key) {
    const auto derived = test::derive_all(enctype, 1, key, kUsage);
    const Bytes ke = derived->rebuild(derived->ke), ki = derived->rebuild(derived->ki);
    Bits value = bits_of(ByteSpan(ke).first(key.size()));
    const Bits pads = bits_of(ki);
    ke_bits = value.size();
    ki_bits = pads.size();
    value.insert(value.end(), pads.begin(), pads.end());
    value.resize(blocks_for(value.size()) * kBlockBits);
    record = record_of(pools(), 1, value.size() / kBlockBits);
    set_value(record, value);
  }
  // Both fields, of the record's bits in a session.
  Result<Held> ke(const Held& held) const { return part_of(held, 0, ke_bits); }
  Result<Held> ki(const Held& held) const { return part_of(held, ke_bits, ki_bits); }

  const std::string number;
  const Bytes key;
  test::Krb5Client whole;
  std::size_t ke_bits = 0, ki_bits = 0;
  BothStored record;
};

}  // namespace tkdc::pair
