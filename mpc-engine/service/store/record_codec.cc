// SPDX-License-Identifier: Apache-2.0
#include "service/store/record_codec.h"

#include "base/assign_octets.h"
#include "base/codec.h"

namespace tkdc {
namespace {

constexpr std::uint8_t kFormatWithoutEra = 1;  // what was written then is of era 0
// Replicated sharing needs no name: older releases read such records too.
constexpr std::uint8_t kFormatWithoutSharing = 2;
constexpr std::uint8_t kRecordFormat = 3;
constexpr std::size_t kMaxNameBytes = 4096;
constexpr std::size_t kMaxSharingBytes = 32;
constexpr std::size_t kMaxFieldNameBytes = 64;

std::size_t encoded_bytes(const KeyRecord& record) {
  std::size_t bytes = 256 + record.principal_name.size();
  for (const auto& [name, value] : record.fields)
    bytes += 12 + name.size() + value.component[0].size() + value.component[1].size();
  return bytes;
}

}  // namespace

SecretVector encode_record(const KeyRecord& record, std::uint32_t era) {
  SecretVector out;
  out.reserve(encoded_bytes(record));  // growing would leave nothing behind, but costs copies
  SecretWriter w(out);
  const bool named = record.sharing != kReplicatedSharing;
  w.u8(named ? kRecordFormat : kFormatWithoutSharing);
  if (named) w.text(record.sharing);
  put_key(w, record.ref);
  w.text(record.principal_name);
  w.u8(static_cast<std::uint8_t>(record.key_class));
  w.u8(static_cast<std::uint8_t>(record.form));
  w.u8(record.origin);
  w.u8(record.exported ? 1 : 0);
  w.u64(record.created_at_s);
  w.u32(record.version);
  w.u32(era);
  w.u32(static_cast<std::uint32_t>(record.fields.size()));
  for (const auto& [name, value] : record.fields) {
    w.text(name);
    w.bytes(value.component[0]);
    w.bytes(value.component[1]);
  }
  return out;
}

bool decode_record(ByteSpan in, KeyRecord& record) {
  Reader r(in);
  const std::uint8_t format = r.u8();
  if (format < kFormatWithoutEra || format > kRecordFormat) return false;
  record.sharing =
      format < kRecordFormat ? std::string(kReplicatedSharing) : r.text(kMaxSharingBytes);
  get_key(r, record.ref);
  record.principal_name = r.text(kMaxNameBytes);
  std::uint8_t key_class = r.u8();
  std::uint8_t form = r.u8();
  record.key_class = static_cast<KeyClass>(key_class);
  record.form = static_cast<KeyForm>(form);
  record.origin = r.u8();
  record.exported = r.u8() != 0;
  record.created_at_s = r.u64();
  record.version = r.u32();
  record.era = format == kFormatWithoutEra ? 0 : r.u32();
  std::uint32_t fields = r.u32();
  if (fields > kMaxRecordFields) return false;
  for (std::uint32_t i = 0; i < fields && !r.failed(); ++i) {
    SharedBytes& value = record.fields[r.text(kMaxFieldNameBytes)];
    for (SecretVector& component : value.component)
      assign_octets(component, r.bytes(kMaxFieldBytes));
  }
  return r.complete() && key_class >= 1 && key_class <= 6 && (form == 1 || form == 2);
}

Bytes record_header(const KeyRecord& record) {
  Bytes header;
  Writer w(header);
  w.u32(record.ref.kvno);
  w.u32(record.ref.enctype);
  w.u32(record.version);
  return header;
}

}  // namespace tkdc
