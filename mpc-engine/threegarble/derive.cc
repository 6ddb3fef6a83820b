// SPDX-License-Identifier: Apache-2.0
#include "threegarble/derive.h"

#include "base/codec.h"

namespace tkdc::threegarble {

SecretVector derive(const Seat& seat, Role other, Purpose purpose, const InstanceId& id,
                    ByteSpan more) {
  SecretVector input;
  SecretWriter w(input);
  w.text("threegarble 1");
  w.u8(static_cast<std::uint8_t>(purpose));
  w.u8(static_cast<std::uint8_t>(evaluator_of(id.n)));
  w.u32(id.lane);
  w.raw(id.circuit);
  w.u64(id.n);
  w.bytes(more);
  const SecretBuffer& key =
      component_with(seat.role(id), other) == 0 ? seat.keys->mine : seat.keys->next;
  SecretVector out(kKeyBytes);
  crypto_generichash(out.data(), out.size(), input.data(), input.size(), key.data(), key.size());
  return out;
}

void add_stream(ByteSpan key, MutableByteSpan out) {
  static_assert(crypto_stream_chacha20_KEYBYTES == kKeyBytes);
  assert(key.size() == kKeyBytes);
  const std::uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = {};
  crypto_stream_chacha20_xor(out.data(), out.data(), out.size(), nonce, key.data());
}

}  // namespace tkdc::threegarble
