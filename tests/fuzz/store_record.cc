// SPDX-License-Identifier: Apache-2.0
// A record of the share store, as it is once decrypted.
#include "fuzz.h"
#include "service/store/record_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tkdc::KeyRecord record;
  if (!tkdc::decode_record({data, size}, record)) return 0;
  tkdc::fuzz::require(record.fields.size() <= tkdc::kMaxRecordFields);
  tkdc::KeyRecord again;
  tkdc::fuzz::require(tkdc::decode_record(tkdc::encode_record(record), again));
  tkdc::fuzz::require(again.fields.size() == record.fields.size());
  return 0;
}
