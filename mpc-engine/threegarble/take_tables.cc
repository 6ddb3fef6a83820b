// SPDX-License-Identifier: Apache-2.0
// E's side of what is sent ahead (tables.h): nothing of an instance is used before both garblers
// are known to have made the same T, and before the labels of ρ are those that T commits to.
#include <algorithm>

#include "base/now_public.h"
#include "threegarble/tables.h"

namespace tkdc::threegarble {

using garble::kLabelBytes;
using garble::Label;

namespace {
constexpr std::size_t kPiece = std::size_t{64} * 1024;
}

Result<ReceivedTables> receive_tables(const Shape& shape, const InstanceId& id, BulkReader& from_a,
                                      BulkReader& from_b, int timeout_ms) {
  ReceivedTables got{id,
                     MappedVector<std::uint8_t>(shape.all_bytes),
                     {},
                     {},
                     SecretVector(shape.out_bits * kLabelBytes)};
  const MutableByteSpan all(got.all);
  // By pieces, from both in turn: neither waits for the other, and the time is of a piece.
  std::pair<BulkReader*, std::vector<MutableByteSpan>> halves[] = {
      {&from_a, {all.first(shape.first_half_bytes), got.second}},
      {&from_b, {all.subspan(shape.first_half_bytes), got.first, got.mask_labels}},
  };
  for (bool more = true; more;) {
    more = false;
    for (auto& [from, missing] : halves) {
      if (missing.empty()) continue;
      MutableByteSpan& first = missing.front();
      const std::size_t now = std::min(first.size(), kPiece);
      if (auto read = from->read(first.first(now), timeout_ms); !read) return read.error();
      first = first.subspan(now);
      if (first.empty()) missing.erase(missing.begin());
      more |= !missing.empty();
    }
  }
  return got;
}

Result<std::optional<CheckedTables>> check_tables(const Seat& seat, const Shape& shape,
                                                  ReceivedTables received) {
  assert(seat.role(received.id) == Role::kEvaluator && received.all.size() == shape.all_bytes);
  const ByteSpan all(received.all);
  TableCheck first(derive(seat, Role::kGarblerB, Purpose::kCheckFirst, received.id));
  TableCheck second(derive(seat, Role::kGarblerA, Purpose::kCheckSecond, received.id));
  first.add(all.first(shape.first_half_bytes));
  second.add(all.subspan(shape.first_half_bytes));
  const TableCheck::Tag first_tag = first.tag(), second_tag = second.tag();
  if (!first.ok() || !second.ok())
    return fail("threegarble: OpenSSL cannot compute GMAC; is it FIPS-bound, or out of memory?");
  int differ = sodium_memcmp(first_tag.data(), received.first.data(), first_tag.size()) |
               sodium_memcmp(second_tag.data(), received.second.data(), second_tag.size());
  now_public(&differ, sizeof differ);
  if (differ != 0) return std::optional<CheckedTables>();

  CheckedTables checked{received.id, std::move(received.all), std::move(received.mask_labels)};
  SecretVector colours = mask_of(seat, shape, checked.id);
  xor_octets(colours, ByteSpan(checked.all).subspan(shape.colours_at()));
  garble::RoundKeys keys;
  first_keys(checked.all, keys);
  const std::size_t before = 2 * shape.in_bits;
  const ByteSpan commitments = ByteSpan(checked.all)
                                   .subspan(shape.commitments_at() + before * kCommitmentBytes,
                                            shape.out_bits * kCommitmentBytes);
  std::uint8_t wrong =
      differs(*seat.kernel, keys, before, {checked.rho(), shape.out_bits}, commitments, colours);
  now_public(&wrong, sizeof wrong);
  if (wrong != 0) return std::optional<CheckedTables>();
  return std::optional<CheckedTables>(std::move(checked));
}

}  // namespace tkdc::threegarble
