// SPDX-License-Identifier: Apache-2.0
// Frames between agent and server: what decodes must encode to the same
// octets again, and nothing else may be taken.
#include "fuzz.h"
#include "service/wire/message.h"

using tkdc::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tkdc::ByteSpan frame(data, size);
  if (auto request = tkdc::decode_request(frame); request.ok()) {
    const tkdc::SecretVector again = tkdc::encode(request.value());
    require(tkdc::fuzz::equal(frame, again));
    if (const auto part = tkdc::part_of(request.value()))
      require(tkdc::decode_part(tkdc::encode(*part)) == *part);
  }
  if (auto reply = tkdc::decode_reply(frame); reply.ok()) {
    const tkdc::SecretVector again = tkdc::encode(reply.value());
    require(tkdc::fuzz::equal(frame, again));
  }
  return 0;
}
