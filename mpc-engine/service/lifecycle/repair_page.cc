// SPDX-License-Identifier: Apache-2.0
#include "service/lifecycle/repair_page.h"

#include <algorithm>
#include <cstring>

#include "base/assign_octets.h"
#include "mac/dealing.h"
#include "service/store/record_codec.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxNameBytes = 4096;
constexpr std::size_t kMaxWordBytes = 64;
constexpr std::size_t kMaxSaidBytes = kMaxNameBytes + 1024 + kMaxRecordFields * (8 + kMaxWordBytes);

bool is_class(std::uint8_t value) { return value >= 1 && value <= 6; }
bool is_form(std::uint8_t value) { return value == 1 || value == 2; }

// What mac_name_of() writes. Whether it is that exactly, join_halves() finds.
bool read_name(ByteSpan name, RepairHalf& half) {
  Reader r(name);
  KeyRecord& record = half.record;
  r.text(kMaxWordBytes);
  get_key(r, record.ref);
  record.version = r.u32();
  record.principal_name = r.text(kMaxNameBytes);
  const std::uint8_t key_class = r.u8(), form = r.u8();
  record.key_class = static_cast<KeyClass>(key_class);
  record.form = static_cast<KeyForm>(form);
  record.origin = r.u8();
  record.exported = r.u8() != 0;
  record.sharing = r.text(kMaxWordBytes);
  record.created_at_s = r.u64();
  const std::size_t fields = r.u32();
  if (fields > kMaxRecordFields) return false;
  for (std::size_t k = 0; k < fields && !r.failed(); ++k) {
    std::string field = r.text(kMaxWordBytes);
    const std::size_t bytes = r.u32();
    if (bytes > kMaxFieldBytes) return false;
    half.fields.emplace_back(std::move(field), bytes);
  }
  return r.complete() && is_class(key_class) && is_form(form) &&
         record.sharing == kReplicatedSharing;
}

bool read_said(RepairHalf& half) {
  Reader r(half.said);
  const ByteSpan name = r.bytes(kMaxSaidBytes);
  half.record.era = r.u32();
  r.array(half.key);
  half.dealing = get_dealing(r);
  // A release that drops no keys says no more.
  if (r.remaining() > 0) {
    half.record.dropped_at_s = r.u64();
    if (half.record.dropped_at_s == 0) return false;
  }
  return r.complete() && read_name(name, half);
}

ByteSpan name_in(const RepairHalf& half) { return Reader(half.said).bytes(kMaxSaidBytes); }

std::size_t bytes_of(const RepairHalf& half) {
  std::size_t bytes = 0;
  for (const auto& [field, size] : half.fields) bytes += mac_padded(size);
  return bytes;
}

bool read_half(Reader& r, RepairHalf& half) {
  const ByteSpan said = r.bytes(kMaxSaidBytes);
  half.said.assign(said.begin(), said.end());
  if (r.failed() || !read_said(half)) return false;
  half.seal_mark = r.u64();
  const std::size_t bytes = bytes_of(half);
  // Before room is made.
  if (bytes > r.remaining()) return false;
  assign_octets(half.component, r.raw(bytes));
  assign_octets(half.tag, r.raw(bytes));
  return !r.failed();
}

}  // namespace

Bytes repair_said(const KeyRecord& record, const MacRow& row) {
  Bytes out;
  Writer w(out);
  w.bytes(mac_name_of(record));
  w.u32(record.era);
  w.raw(row.key);
  put_dealing(w, row.dealing);
  if (record.dropped_at_s != 0) w.u64(record.dropped_at_s);
  return out;
}

void put_repair_half(SecretVector& page, const StoredKey& key, ByteSpan said, std::size_t place,
                     std::uint64_t seal_mark) {
  const MacSubject subject = mac_subject(*key.record, Bytes());
  SecretWriter w(page);
  w.bytes(said);
  w.u64(seal_mark);
  w.raw(subject.component[place]);
  w.raw(key.macs->tag[place]);
}

std::optional<std::vector<RepairHalf>> get_repair_halves(ByteSpan page, std::size_t count,
                                                         const InstallationId& installation) {
  std::vector<RepairHalf> out;
  Reader r(page);
  for (std::size_t k = 0; k < count; ++k) {
    RepairHalf& half = out.emplace_back();
    if (!read_half(r, half) || half.record.ref.installation != installation) return std::nullopt;
    const bool ascends = k == 0 || std::ranges::lexicographical_compare(out[k - 1].record.ref.id,
                                                                        half.record.ref.id);
    if (!ascends) return std::nullopt;
  }
  if (!r.complete()) return std::nullopt;
  return out;
}

bool is_proved(MacKeys& keys, int prover, const RepairHalf& half) {
  const MacRole role{prover, 3 - prover - keys.party()};
  const Bytes name = mac_name(name_in(half), half.dealing);
  return half.key == keys.id() && are_tags_of(keys, role, name, half.component, half.tag);
}

std::optional<KeyRecord> join_halves(const RepairHalf& prev, const RepairHalf& next) {
  if (prev.said != next.said) return std::nullopt;
  KeyRecord record = prev.record;
  std::size_t at = 0;
  for (const auto& [field, bytes] : prev.fields) {
    const auto [place, fresh] = record.fields.emplace(field, SharedBytes());
    if (!fresh) return std::nullopt;
    assign_octets(place->second.component[0], ByteSpan(prev.component).subspan(at, bytes));
    assign_octets(place->second.component[1], ByteSpan(next.component).subspan(at, bytes));
    at += mac_padded(bytes);
  }
  if (!std::ranges::equal(mac_name_of(record), name_in(prev))) return std::nullopt;
  return record;
}

}  // namespace tkdc
