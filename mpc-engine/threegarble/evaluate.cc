// SPDX-License-Identifier: Apache-2.0
#include "threegarble/evaluate.h"

#include <algorithm>
#include <cstring>

#include "base/now_public.h"
#include "garble/evaluator.h"
#include "threegarble/label_check.h"

namespace tkdc::threegarble {

using garble::kLabelBytes;
using garble::Label;

namespace {

// Of the other garbler's stream.
ByteSpan key_in(ByteSpan m1) { return m1.subspan(kDigestBytes, kKeyBytes); }

OpenedM1 open_m1(const Shape& shape, ByteSpan m1, ByteSpan key) {
  OpenedM1 out{garble::SecretLabels(shape.in_bits), SecretVector(shape.in_bytes())};
  const ByteSpan hidden = m1.subspan(kDigestBytes + kKeyBytes);
  SecretVector plain(hidden.begin(), hidden.end());
  add_stream(key, plain);
  std::memcpy(out.labels.span().data(), plain.data(), shape.in_bits * kLabelBytes);
  std::copy(plain.end() - static_cast<std::ptrdiff_t>(shape.in_bytes()), plain.end(),
            out.bits.begin());
  return out;
}

garble::SecretLabels output_labels(const garble::Kernel& kernel, const Shape& shape,
                                   const CheckedTables& tables, const OpenedM1& a,
                                   const OpenedM1& b) {
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

ByteSpan octets_of(const garble::SecretLabels& labels) {
  const auto all = labels.span();
  return {reinterpret_cast<const std::uint8_t*>(all.data()), all.size_bytes()};
}

SecretVector colours_of(std::span<const Label> labels) {
  SecretVector out(labels.size() / 8);
  for (std::size_t k = 0; k < labels.size(); ++k) put_bit(out, k, labels[k].colour());
  return out;
}

}  // namespace

bool is_of_job(ByteSpan m1, const Digest& public_digest) {
  if (m1.size() < kDigestBytes) return false;
  const ByteSpan said = m1.first(kDigestBytes);
  now_public(said.data(), said.size());
  return std::ranges::equal(said, public_digest);
}

std::optional<Evaluated> evaluate(const Seat& seat, const Shape& shape, CheckedTables tables,
                                  const Digest& public_digest, const SharedBytes& input,
                                  ByteSpan from_a, ByteSpan from_b) {
  const Role role = seat.role(tables.id);
  assert(role == Role::kEvaluator && input.size() == shape.in_bytes());
  if (from_a.size() != m1_bytes(shape) || from_b.size() != m1_bytes(shape)) return std::nullopt;
  if (!is_of_job(from_a, public_digest) || !is_of_job(from_b, public_digest)) return std::nullopt;
  const OpenedM1 a = open_m1(shape, from_a, key_in(from_b)),
                 b = open_m1(shape, from_b, key_in(from_a));
  const std::size_t with_a = component_with(role, Role::kGarblerA),
                    with_b = component_with(role, Role::kGarblerB);
  if (!labels_stand(*seat.kernel, shape, tables, a, b, input.component[with_a],
                    input.component[with_b]))
    return std::nullopt;

  const garble::SecretLabels labels = output_labels(*seat.kernel, shape, tables, a, b);
  Evaluated out{SecretVector(m2_bytes(shape)), SharedBytes(shape.out_bytes())};
  out.share.component[with_a] = colours_of(labels.span());
  out.share.component[with_b] = mask_of(seat, shape, tables.id);
  const SecretVector digest = label_digest(public_digest, octets_of(labels));
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
  const SecretVector digest = label_digest(public_digest, octets_of(labels));
  int differ = sodium_memcmp(digest.data(), m2.data() + shape.out_bytes(), kDigestBytes);
  now_public(&differ, sizeof differ);
  if (differ != 0) return std::nullopt;
  return colours;
}

SecretVector garblers_component(const Shape& shape, const GarbledInstance& instance) {
  return colours_of({instance.out(), shape.out_bits});
}

}  // namespace tkdc::threegarble
