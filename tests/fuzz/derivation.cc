// SPDX-License-Identifier: Apache-2.0
// Recipes of derived keys: in a KDC's keyblock (service/wire/derivation.h) and in an
// agent's job (service/operation/derived.h). What decodes must encode to the same octets.
#include "derivation.h"
#include "fuzz.h"
#include "service/operation/derived.h"

using tkdc::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tkdc::ByteSpan given(data, size);
  tkdc_wire_key key;
  tkdc_derivation recipe;
  if (tkdc_derived_decode(data, size, &key, &recipe)) {
    std::uint8_t again[TKDC_DERIVED_HANDLE_MAX_BYTES];
    const std::size_t length = tkdc_derived_encode(again, &key, &recipe);
    require(tkdc::fuzz::equal(given, tkdc::ByteSpan(again, length)));
  }
  if (auto by = tkdc::decode_derivation(tkdc::Bytes(data, data + size)))
    require(tkdc::fuzz::equal(given, tkdc::encode_derivation(*by)));
  return 0;
}
