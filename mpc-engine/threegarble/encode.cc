// SPDX-License-Identifier: Apache-2.0
#include "threegarble/encode.h"

#include <cstring>

namespace tkdc::threegarble {

using garble::kLabelBytes;
using garble::Label;

namespace {

void put_label(std::uint8_t* to, const Label& label) { std::memcpy(to, &label, kLabelBytes); }

}  // namespace

Encoded encode(const Seat& seat, const Shape& shape, GarbledInstance instance,
               const Digest& public_digest, const SharedBytes& input) {
  const InstanceId& id = instance.id;
  const Role role = seat.role(id);
  assert(role != Role::kEvaluator && input.size() == shape.in_bytes());
  const bool is_a = role == Role::kGarblerA;
  const Role other = is_a ? Role::kGarblerB : Role::kGarblerA;
  const Drawn drawn(seat, shape, id);

  const ByteSpan hidden = input.component[component_with(role, other)];  // x_{e+2}
  const ByteSpan seen = input.component[component_with(role, Role::kEvaluator)];
  SecretVector value(seen.begin(), seen.end());  // of v: x_e; of u: x_{e+1} ⊕ x_{e+2}
  if (is_a) xor_octets(value, hidden);
  const std::span<const Label> mine = is_a ? drawn.u() : drawn.v();
  const std::span<const Label> others = is_a ? drawn.v() : drawn.u();

  SecretVector labels(shape.in_bits * kLabelBytes), bits(shape.in_bytes());
  for (std::size_t k = 0; k < shape.in_bits; ++k) {
    put_label(labels.data() + k * kLabelBytes, mine[k] ^ drawn.delta().where(bit_of(value, k)));
    put_bit(bits, k, others[k].colour());
  }
  if (!is_a) xor_octets(bits, hidden);

  SecretVector component = component_digest(public_digest, hidden);
  const SecretVector d = whole_digest(public_digest, component);
  const SecretVector key_u = derive(seat, other, Purpose::kStreamU, id, d);
  const SecretVector key_v = derive(seat, other, Purpose::kStreamV, id, d);
  SecretVector m1(m1_bytes(shape));
  std::uint8_t* to = m1.data();
  for (const ByteSpan part : {ByteSpan(public_digest), ByteSpan(is_a ? key_v : key_u),
                              ByteSpan(labels), ByteSpan(bits)}) {
    std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  add_stream(is_a ? key_u : key_v, MutableByteSpan(m1).subspan(kDigestBytes + kKeyBytes));

  Encoded out{std::move(m1), std::move(instance), garble::SecretLabels(1), std::move(component)};
  out.delta.span()[0] = drawn.delta();
  return out;
}

}  // namespace tkdc::threegarble
