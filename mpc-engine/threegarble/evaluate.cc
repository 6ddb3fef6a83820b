// SPDX-License-Identifier: Apache-2.0
#include "threegarble/evaluate.h"

#include <algorithm>
#include <cstring>

#include "base/now_public.h"
#include "garble/evaluator.h"

namespace tkdc::threegarble {

using garble::kLabelBytes;
using garble::Label;

namespace {

// A garbler's m1, and what is under its stream.
struct Opened {
  ByteSpan said;  // D_pub
  ByteSpan key;   // of the other garbler's stream
  garble::SecretLabels labels;
  SecretVector bits;
};

Opened cut(const Shape& shape, ByteSpan m1) {
  Opened out{m1.first(kDigestBytes), m1.subspan(kDigestBytes, kKeyBytes),
             garble::SecretLabels(shape.in_bits), SecretVector(shape.in_bytes())};
  return out;
}

void read(const Shape& shape, ByteSpan m1, ByteSpan key, Opened& out) {
  const ByteSpan hidden = m1.subspan(kDigestBytes + kKeyBytes);
  SecretVector plain(hidden.begin(), hidden.end());
  add_stream(key, plain);
  std::memcpy(out.labels.span().data(), plain.data(), shape.in_bits * kLabelBytes);
  std::copy(plain.end() - static_cast<std::ptrdiff_t>(shape.in_bytes()), plain.end(),
            out.bits.begin());
}

// All input labels are what T commits to, and have the colours that they have to have.
bool labels_stand(const garble::Kernel& kernel, const Shape& shape, const CheckedTables& tables,
                  const Opened& a, const Opened& b, ByteSpan x_with_a, ByteSpan x_with_b) {
  garble::RoundKeys keys;
  first_keys(tables.all, keys);
  const std::size_t bytes = shape.in_bits * kCommitmentBytes;
  const ByteSpan commitments = ByteSpan(tables.all).subspan(shape.commitments_at());
  SecretVector of_u(x_with_a.begin(), x_with_a.end()), of_v(x_with_b.begin(), x_with_b.end());
  xor_octets(of_u, b.bits);
  xor_octets(of_v, a.bits);
  std::uint8_t wrong = differs(kernel, keys, 0, a.labels.span(), commitments.first(bytes), of_u);
  wrong = static_cast<std::uint8_t>(wrong | differs(kernel, keys, shape.in_bits, b.labels.span(),
                                                    commitments.subspan(bytes, bytes), of_v));
  // The only bit of all this that decides anything.
  now_public(&wrong, sizeof wrong);
  return wrong == 0;
}

garble::SecretLabels output_labels(const garble::Kernel& kernel, const Shape& shape,
                                   const CheckedTables& tables, const Opened& a, const Opened& b) {
  garble::SecretLabels inputs(shape.in_bits), out(shape.out_bits);
  for (std::size_t k = 0; k < shape.in_bits; ++k)
    inputs.span()[k] = a.labels.span()[k] ^ b.labels.span()[k];
  garble::Evaluator evaluator(1, kernel, shape.first_gate_tweak());
  evaluator.begin(shape.schedule, inputs.span());
  for (std::size_t at = 0; !evaluator.done();) {
    const std::uint8_t* const from = tables.all.data() + at;
    at += evaluator.evaluate(std::span(&from, 1), shape.table_bytes - at);
  }
  for (std::size_t k = 0; k < shape.out_bits; ++k)
    out.span()[k] = evaluator.output(k) ^ tables.rho()[k];
  return out;
}

SecretVector colours_of(std::span<const Label> labels) {
  SecretVector out(labels.size() / 8);
  for (std::size_t k = 0; k < labels.size(); ++k) put_bit(out, k, labels[k].colour());
  return out;
}

}  // namespace

Digest label_digest(const Digest& public_digest, std::span<const Label> labels) {
  Digest out;
  crypto_generichash(out.data(), out.size(), reinterpret_cast<const std::uint8_t*>(labels.data()),
                     labels.size_bytes(), public_digest.data(), public_digest.size());
  return out;
}

std::optional<Evaluated> evaluate(const Seat& seat, const Shape& shape, CheckedTables tables,
                                  const Digest& public_digest, const SharedBytes& input,
                                  ByteSpan from_a, ByteSpan from_b) {
  const Role role = seat.role(tables.id);
  assert(role == Role::kEvaluator && input.size() == shape.in_bytes());
  if (from_a.size() != m1_bytes(shape) || from_b.size() != m1_bytes(shape)) return std::nullopt;
  Opened a = cut(shape, from_a), b = cut(shape, from_b);
  now_public(a.said.data(), a.said.size());
  now_public(b.said.data(), b.said.size());
  if (!std::ranges::equal(a.said, public_digest) || !std::ranges::equal(b.said, public_digest))
    return std::nullopt;
  read(shape, from_a, b.key, a);
  read(shape, from_b, a.key, b);
  const std::size_t with_a = component_with(role, Role::kGarblerA),
                    with_b = component_with(role, Role::kGarblerB);
  if (!labels_stand(*seat.kernel, shape, tables, a, b, input.component[with_a],
                    input.component[with_b]))
    return std::nullopt;

  const garble::SecretLabels labels = output_labels(*seat.kernel, shape, tables, a, b);
  Evaluated out{SecretVector(m2_bytes(shape)), SharedBytes(shape.out_bytes())};
  out.share.component[with_a] = colours_of(labels.span());
  out.share.component[with_b] = mask_of(seat, shape, tables.id);
  const Digest digest = label_digest(public_digest, labels.span());
  std::ranges::copy(out.share.component[with_a], out.m2.begin());
  std::ranges::copy(digest, out.m2.end() - static_cast<std::ptrdiff_t>(kDigestBytes));
  return out;
}

std::optional<SecretVector> accept_m2(const Shape& shape, const Encoded& encoded,
                                      const Digest& public_digest, ByteSpan m2) {
  if (m2.size() != m2_bytes(shape)) return std::nullopt;
  SecretVector colours(m2.begin(), m2.begin() + static_cast<std::ptrdiff_t>(shape.out_bytes()));
  const Label delta = encoded.delta.span()[0];
  garble::SecretLabels labels(shape.out_bits);
  for (std::size_t k = 0; k < shape.out_bits; ++k) {
    const Label zero = encoded.instance.out()[k];
    labels.span()[k] = zero ^ delta.where(zero.colour() ^ bit_of(colours, k));
  }
  garble::wipe_stack();  // copies of Δ
  const Digest digest = label_digest(public_digest, labels.span());
  int differ = sodium_memcmp(digest.data(), m2.data() + shape.out_bytes(), kDigestBytes);
  now_public(&differ, sizeof differ);
  if (differ != 0) return std::nullopt;
  return colours;
}

SecretVector garblers_component(const Shape& shape, const GarbledInstance& instance) {
  return colours_of({instance.out(), shape.out_bits});
}

}  // namespace tkdc::threegarble
