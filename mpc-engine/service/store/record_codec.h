// SPDX-License-Identifier: Apache-2.0
// A KeyRecord as octets, for the store. Secret: the result.
#pragma once

#include "service/store/record.h"

namespace tkdc {

inline constexpr std::size_t kMaxRecordFields = 256;
inline constexpr std::size_t kMaxFieldBytes = 64 * 1024;

// `era` in place of the record's own.
SecretVector encode_record(const KeyRecord& record, std::uint32_t era);
inline SecretVector encode_record(const KeyRecord& record) {
  return encode_record(record, record.era);
}

// What of a record stands in the clear, for the inventory: kvno, enctype, version.
inline constexpr std::size_t kRecordHeaderBytes = 12;
Bytes record_header(const KeyRecord& record);

// False when malformed.
[[nodiscard]] bool decode_record(ByteSpan in, KeyRecord& record);

}  // namespace tkdc
