// SPDX-License-Identifier: Apache-2.0
// The agent's socket: frame headers, handles, and the bodies of replies.
#include "fuzz.h"
#include "handle.h"
#include "request.h"

using tkdc::fuzz::require;

namespace {

void header(const std::uint8_t* data) {
  tkdc_wire_header h{};
  if (!tkdc_wire_get_header(data, &h)) return;
  require(h.body_bytes <= TKDC_WIRE_BODY_MAX_BYTES);
  std::uint8_t again[TKDC_WIRE_HEADER_BYTES];
  tkdc_wire_put_header(again, &h);
  require(tkdc::fuzz::equal({data, sizeof again}, {again, sizeof again}));
}

void reply_bodies(const std::uint8_t* data, std::size_t size) {
  tkdc_reply reply{};
  tkdc_buffer_put(&reply.body, data, size);
  tkdc_span span{};
  std::uint8_t id[16];
  if (tkdc_reply_bytes(&reply, &span)) require(span.len + 4 == size);
  if (tkdc_reply_hello(&reply, &span, id)) require(span.len + 20 == size);
  (void)tkdc_reply_key_id(&reply, id);
  tkdc_reply_free(&reply);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size >= TKDC_WIRE_HEADER_BYTES) header(data);
  tkdc_wire_key key{};
  if (tkdc_handle_decode(data, size, &key)) require(size == TKDC_HANDLE_BYTES);
  reply_bodies(data, size);
  return 0;
}
