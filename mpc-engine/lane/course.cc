// SPDX-License-Identifier: Apache-2.0
#include "lane/course.h"

namespace tkdc {

void Course::note(Kind kind, std::initializer_list<ByteSpan> parts) {
  crypto_generichash_state state;
  Digest next;
  crypto_generichash_init(&state, digest().data(), digest().size(), next.size());
  Bytes header;
  Writer w(header);
  w.u8(static_cast<std::uint8_t>(kind));
  for (ByteSpan part : parts) w.u32(static_cast<std::uint32_t>(part.size()));
  crypto_generichash_update(&state, header.data(), header.size());
  for (ByteSpan part : parts) crypto_generichash_update(&state, part.data(), part.size());
  crypto_generichash_final(&state, next.data(), next.size());

  ++tail_.decisions;
  if (tail_.last.size() == CourseTail::kMost) tail_.last.erase(tail_.last.begin());
  tail_.last.push_back(next);
}

CourseTail Course::tail() const {
  CourseTail tail = tail_;
  // Before the first decision there is nothing to compare.
  if (tail.last.size() > tail.decisions) tail.last.erase(tail.last.begin());
  return tail;
}

}  // namespace tkdc
