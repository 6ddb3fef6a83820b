// SPDX-License-Identifier: Apache-2.0
#include "job/ticker.h"

namespace tkdc {

Result<ByteSpan> Ticker::receive(Neighbour from, int timeout_ms) {
  auto packet = link_.receive(from, timeout_ms);
  if (!packet) return packet.error();
  Reader in(*packet);
  const std::uint32_t number = in.u32();
  if (in.failed() || number != number_)
    return fail("lane: a neighbour is at tick " + std::to_string(number) + ", this server at " +
                std::to_string(number_) + "; the session is ended and a new one set up");
  return in.raw(in.remaining());
}

Result<Ticker::Control> Ticker::tick(bool full, const OwnControl& own, int timeout_ms) {
  full |= rep3_.needs_next();
  head_.clear();
  Writer prev(head_);
  prev.u32(number_);
  if (full) prev.bytes(own.to_prev);
  const Rep3::ToPrev parts = rep3_.finish_to_prev();
  const ByteSpan pieces[] = {head_, parts.layers, parts.rest};
  if (auto sent = link_.send_pieces(Neighbour::kPrev, pieces); !sent) return sent.error();
  if (full) {
    to_next_.clear();
    SecretWriter next(to_next_);
    next.u32(number_);
    next.bytes(own.to_next);
    rep3_.append_to_next(to_next_);
    if (auto sent = link_.send(Neighbour::kNext, to_next_); !sent) return sent.error();
  }
  rep3_.prefetch_masks();

  Control control;
  auto from_next = receive(Neighbour::kNext, timeout_ms);
  if (!from_next) return from_next.error();
  Reader next_in(*from_next);
  if (full) control.from_next = next_in.bytes(kMaxControlBytes);
  ByteSpan rest_next = next_in.raw(next_in.remaining()), rest_prev;
  if (full) {
    auto from_prev = receive(Neighbour::kPrev, timeout_ms);
    if (!from_prev) return from_prev.error();
    Reader prev_in(*from_prev);
    control.from_prev = prev_in.bytes(kMaxControlBytes);
    rest_prev = prev_in.raw(prev_in.remaining());
    if (prev_in.failed()) return fail("lane: a neighbour's packet is truncated");
  }
  if (next_in.failed()) return fail("lane: a neighbour's packet is truncated");
  if (auto consumed = rep3_.consume(rest_next, rest_prev); !consumed) return consumed.error();
  ++number_;
  return control;
}

}  // namespace tkdc
