// SPDX-License-Identifier: Apache-2.0
#include "threegarble/commitments.h"

#include <cstring>

namespace tkdc::threegarble {

using garble::kLabelBytes;
using garble::Label;

namespace {

constexpr std::size_t kBatch = 64;  // wires whose hashes stand side by side

Label load(const std::uint8_t* from) {
  Label label;
  std::memcpy(&label, from, kLabelBytes);
  return label;
}

}  // namespace

void first_keys(ByteSpan tables, garble::RoundKeys& out) {
  const Label key = load(tables.first(kLabelBytes).data());
  garble::expand_keys(std::span(&key, 1), out);
}

void commit(const garble::Kernel& kernel, const garble::RoundKeys& keys, std::uint64_t first_tweak,
            std::span<const Label> zero_labels, const Label& delta, MutableByteSpan out) {
  assert(out.size() == zero_labels.size() * kCommitmentBytes);
  garble::SecretLabels by_colour(2 * kBatch);
  const std::span<Label> plain = by_colour.span().first(kBatch),
                         other = by_colour.span().last(kBatch);
  for (std::size_t at = 0; at < zero_labels.size(); at += kBatch) {
    const std::size_t count = std::min(kBatch, zero_labels.size() - at);
    for (std::size_t k = 0; k < count; ++k) {
      const Label zero = zero_labels[at + k];
      plain[k] = zero ^ delta.where(zero.colour());  // the one of colour 0
      other[k] = plain[k] ^ delta;
    }
    kernel.hash(keys, first_tweak + at, plain.first(count), plain.data());
    kernel.hash(keys, first_tweak + at, other.first(count), other.data());
    for (std::size_t k = 0; k < count; ++k) {
      std::uint8_t* to = out.data() + (at + k) * kCommitmentBytes;
      std::memcpy(to, &plain[k], kLabelBytes);
      std::memcpy(to + kLabelBytes, &other[k], kLabelBytes);
    }
  }
}

std::uint8_t differs(const garble::Kernel& kernel, const garble::RoundKeys& keys,
                     std::uint64_t first_tweak, std::span<const Label> labels, ByteSpan commitments,
                     ByteSpan expected_colours) {
  assert(commitments.size() == labels.size() * kCommitmentBytes);
  assert(expected_colours.size() * 8 == labels.size());
  garble::SecretLabels hashes(kBatch);
  Label wrong;
  std::uint64_t wrong_colours = 0;
  for (std::size_t at = 0; at < labels.size(); at += kBatch) {
    const std::size_t count = std::min(kBatch, labels.size() - at);
    kernel.hash(keys, first_tweak + at, labels.subspan(at, count), hashes.span().data());
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint8_t* from = commitments.data() + (at + k) * kCommitmentBytes;
      const Label first = load(from), second = load(from + kLabelBytes);
      const std::uint64_t colour = labels[at + k].colour();
      const Label expected = first ^ (first ^ second).where(colour);
      const Label difference = hashes.span()[k] ^ expected;
      wrong.low |= difference.low;
      wrong.high |= difference.high;
      wrong_colours |= colour ^ bit_of(expected_colours, at + k);
    }
  }
  std::uint64_t any = wrong.low | wrong.high | wrong_colours;
  any |= any >> 32;
  any |= any >> 16;
  any |= any >> 8;
  return static_cast<std::uint8_t>(any & 0xff);
}

}  // namespace tkdc::threegarble
