// SPDX-License-Identifier: Apache-2.0
// The first packet on a link between servers, and a refusal.
#include "fuzz.h"
#include "session/hello.h"

using tkdc::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tkdc::ByteSpan packet(data, size);
  if (auto hello = tkdc::decode_hello(packet);
      hello.ok() && hello.value().version == tkdc::kProtocolVersion) {
    // What is not printable in its text was replaced: the second time nothing may change.
    const tkdc::SecretVector again = tkdc::encode_hello(hello.value());
    require(again.size() == packet.size());
    auto twice = tkdc::decode_hello(again);
    require(twice.ok() && tkdc::fuzz::equal(again, tkdc::encode_hello(twice.value())));
  }
  if (tkdc::is_refusal(packet)) {
    const std::string text = tkdc::refusal_text(packet);
    require(text.size() <= tkdc::kMaxRefusalBytes);
    for (const char c : text) require(c >= 0x20 && c < 0x7f);
  }
  return 0;
}
