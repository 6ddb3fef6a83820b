// SPDX-License-Identifier: Apache-2.0
#include "job/ticker.h"

namespace tkdc {
namespace {

template <class AnyWriter>
void put_control(AnyWriter& w, const Bytes& to_both, const Bytes& to_one) {
  if (to_both.empty() && to_one.empty()) return w.u32(0);
  w.u32(static_cast<std::uint32_t>(sizeof(std::uint32_t) + to_both.size() + to_one.size()));
  w.bytes(to_both);
  w.raw(to_one);
}

// False: malformed.
[[nodiscard]] bool get_control(Reader& in, Ticker::Said& said) {
  Reader control(in.bytes(Ticker::kMaxControlBytes));
  if (in.failed()) return false;
  if (control.remaining() == 0) return true;
  said.to_both = control.bytes(Ticker::kMaxControlBytes);
  said.to_me = control.raw(control.remaining());
  return !control.failed();
}

}  // namespace

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

// To both, also when one of them is gone: the other may have to learn that it was told something
// else (rep3/course.h).
Result<void> Ticker::send(bool full, const OwnControl& own) {
  head_.clear();
  Writer prev(head_);
  prev.u32(number_);
  if (full) put_control(prev, own.to_both, own.to_prev);
  const Rep3::ToPrev parts = rep3_.finish_to_prev();
  const ByteSpan pieces[] = {head_, parts.layers, parts.rest};
  auto sent = link_.send_pieces(Neighbour::kPrev, pieces);
  if (!sent) lost_ = Neighbour::kPrev;
  if (!full) return sent;
  to_next_.clear();
  SecretWriter next(to_next_);
  next.u32(number_);
  put_control(next, own.to_both, own.to_next);
  rep3_.append_to_next(to_next_);
  auto sent_next = link_.send(Neighbour::kNext, to_next_);
  if (sent && !sent_next) lost_ = Neighbour::kNext;
  return sent ? sent_next : sent;
}

// The tick has failed, perhaps because one neighbour withholds its packet, spoils it or is gone.
// What the other sent may be here, or on its way; if it shows that the two were told different
// things, this server says so.
void Ticker::hear_what_came() {
  constexpr int kWaitMs = 200;
  for (Neighbour from : {Neighbour::kNext, Neighbour::kPrev}) {
    const auto side = static_cast<std::size_t>(from);
    if (!heard_[side]) {
      auto packet = receive(from, lost_ == from ? 0 : kWaitMs);
      if (!packet) continue;
      Reader in(*packet);
      Said ignored;
      if (!get_control(in, ignored)) continue;
      heard_[side] = in.raw(in.remaining());
    }
    rep3_.hear_agreement(from, *heard_[side]);
  }
}

void Ticker::note(const OwnControl& own, const Control& heard) {
  ByteSpan by_party[3];
  const auto me = static_cast<std::size_t>(rep3_.party());
  by_party[me] = own.to_both;
  by_party[(me + 1) % 3] = heard.next.to_both;
  by_party[(me + 2) % 3] = heard.prev.to_both;
  if (by_party[0].empty() && by_party[1].empty() && by_party[2].empty()) return;
  Bytes tick;
  Writer(tick).u32(number_);
  rep3_.course().note(Course::Kind::kSaid, {tick, by_party[0], by_party[1], by_party[2]});
}

Result<Ticker::Control> Ticker::tick(bool full, const OwnControl& own, int timeout_ms) {
  full |= rep3_.needs_next();
  heard_ = {};
  auto control = try_tick(full, own, timeout_ms);
  if (!control && full) hear_what_came();
  return control;
}

Result<Ticker::Control> Ticker::try_tick(bool full, const OwnControl& own, int timeout_ms) {
  if (auto sent = send(full, own); !sent) return sent.error();
  rep3_.prefetch_masks();

  constexpr const char* kTruncated = "lane: a neighbour's packet is truncated";
  Control control;
  ByteSpan rest[2];  // by Neighbour
  for (Neighbour from : {Neighbour::kNext, Neighbour::kPrev}) {
    const auto side = static_cast<std::size_t>(from);
    if (!full && from == Neighbour::kPrev) break;
    auto packet = receive(from, timeout_ms);
    if (!packet) {
      lost_ = from;
      return packet.error();
    }
    Reader in(*packet);
    Said& said = from == Neighbour::kNext ? control.next : control.prev;
    if (full && !get_control(in, said)) return fail(kTruncated);
    rest[side] = in.raw(in.remaining());
    heard_[side] = rest[side];
  }
  if (auto consumed = rep3_.consume(rest[1], rest[0]); !consumed) return consumed.error();
  note(own, control);
  ++number_;
  return control;
}

}  // namespace tkdc
