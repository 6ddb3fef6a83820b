// SPDX-License-Identifier: Apache-2.0
#include "lane/ticker.h"

#include "session/refusal.h"

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

std::uint32_t on_the_wire(std::uint64_t tick) { return static_cast<std::uint32_t>(tick); }

}  // namespace

Error Ticker::failed(std::optional<Neighbour> whose, bool connection, const Error& error) {
  failure_ = Failure{whose, connection};
  return error;
}

void Ticker::begin(bool full, const OwnControl& own) {
  full |= lane_.needs_next();
  Sent& made = sent(lane_.rounds());
  made.full = full;
  made.header.clear();
  Writer prev(made.header);
  prev.u32(on_the_wire(lane_.rounds()));
  if (full) put_control(prev, own.to_both, own.to_prev);
  lane_.finish_to_prev();
  to_both_ = own.to_both;
  begun_ = true;
  on_its_way_ = false;
  made.to_next.clear();
  if (!full) return;
  SecretWriter next(made.to_next);
  next.u32(on_the_wire(lane_.rounds()));
  put_control(next, own.to_both, own.to_next);
  lane_.append_to_next(made.to_next);
}

Result<ByteSpan> Ticker::receive(Neighbour from, int timeout_ms) {
  auto packet = link_->receive(from, timeout_ms);
  if (!packet) return failed(from, true, packet.error());
  if (lane_.rounds() == 0 && is_refusal(*packet))
    return failed(from, false, fail("lane: a neighbour is not through: " + refusal_text(*packet)));
  Reader in(*packet);
  const std::uint32_t number = in.u32(), expected = on_the_wire(lane_.rounds());
  if (in.failed() || number != expected)
    return failed(
        from, false,
        fail("lane: a neighbour is at tick " + std::to_string(number) + ", this server at " +
             std::to_string(expected) + "; the session is ended and a new one set up"));
  return in.raw(in.remaining());
}

Result<void> Ticker::send(Neighbour to, std::uint64_t tick) {
  const Sent& made = sent(tick);
  Result<void> taken;
  if (to == Neighbour::kNext) {
    if (made.full) taken = link_->send(to, made.to_next);
  } else {
    const Lane::ToPrev octets = lane_.sent_to_prev(tick);
    static_assert(kMostParts == 2);
    const ByteSpan pieces[] = {made.header, octets.parts[0], octets.parts[1], octets.rest};
    taken = link_->send_pieces(to, pieces);
  }
  if (!taken) return failed(to, true, taken.error());
  return {};
}

// To both, also when one of them is gone: the other may have to learn that it was told something
// else (lane/course.h).
Result<void> Ticker::send_tick() {
  auto to_prev = send(Neighbour::kPrev, lane_.rounds());
  const auto first = failure_;
  auto to_next = send(Neighbour::kNext, lane_.rounds());
  if (to_prev) return to_next;
  failure_ = first;
  return to_prev;
}

Result<std::uint64_t> Ticker::hear_tick(Neighbour from, int timeout_ms) {
  auto packet = link_->receive(from, timeout_ms);
  if (!packet) return failed(from, true, packet.error());
  // Its own handshake may have failed after this server's was through.
  if (is_refusal(*packet))
    return failed(from, true, fail("lane: a neighbour is not through: " + refusal_text(*packet)));
  Reader in(*packet);
  const std::uint64_t lacks = in.u64(), mine = lane_.rounds();
  if (!in.complete() || lacks + kKeptTicks <= mine || mine + kKeptTicks <= lacks)
    return failed(from, false,
                  fail("lane: a neighbour lacks packets of tick " + std::to_string(lacks) +
                       ", this server of tick " + std::to_string(mine) +
                       "; the session is ended and a new one set up"));
  return lacks;
}

Result<void> Ticker::go_on(Link& link, int timeout_ms) {
  use(link);
  failure_.reset();
  Bytes own;
  Writer(own).u64(lane_.rounds());
  for (Neighbour to : {Neighbour::kPrev, Neighbour::kNext})
    if (auto told = link.send(to, own); !told) return failed(to, true, told.error());
  for (Neighbour to : {Neighbour::kPrev, Neighbour::kNext}) {
    auto lacks = hear_tick(to, timeout_ms);
    if (!lacks) return lacks.error();
    for (std::uint64_t tick = *lacks; tick < lane_.rounds() + (begun_ ? 1 : 0); ++tick)
      if (auto resent = send(to, tick); !resent) return resent;
  }
  on_its_way_ = begun_;
  return {};
}

// The tick has failed, perhaps because one neighbour withholds its packet, spoils it or is gone.
// What the other sent may be here, or on its way; if it shows that the two were told different
// things, this server says so.
void Ticker::hear_what_came() {
  constexpr int kWaitMs = 200;
  const auto first = failure_;
  for (Neighbour from : {Neighbour::kNext, Neighbour::kPrev}) {
    const auto side = static_cast<std::size_t>(from);
    if (!heard_[side]) {
      auto packet = receive(from, first && first->whose == from ? 0 : kWaitMs);
      if (!packet) continue;
      Reader in(*packet);
      Said ignored;
      if (!get_control(in, ignored)) continue;
      heard_[side] = in.raw(in.remaining());
    }
    lane_.hear_comparisons(from, *heard_[side]);
  }
  failure_ = first;
}

void Ticker::note(std::uint64_t ended, const Control& heard) {
  ByteSpan by_party[3];
  const auto me = static_cast<std::size_t>(lane_.party());
  by_party[me] = to_both_;
  by_party[(me + 1) % 3] = heard.next.to_both;
  by_party[(me + 2) % 3] = heard.prev.to_both;
  if (by_party[0].empty() && by_party[1].empty() && by_party[2].empty()) return;
  Bytes tick;
  Writer(tick).u32(on_the_wire(ended));
  lane_.course().note(Course::Kind::kSaid, {tick, by_party[0], by_party[1], by_party[2]});
}

Result<Ticker::Control> Ticker::end(int timeout_ms) {
  heard_ = {};
  failure_.reset();
  auto control = try_end(timeout_ms);
  if (control) return control;
  if (sent(lane_.rounds()).full) hear_what_came();
  lane_.tick_failed();
  return control;
}

Result<void> Ticker::step(Owner& owner, int timeout_ms) {
  // Else a connection was lost within it.
  if (!begun_) {
    const std::optional<OwnControl> own = owner.say();
    spoke_ = own.has_value();
    begin(spoke_, own.value_or(OwnControl()));
  }
  auto control = end(timeout_ms);
  if (!control) return control.error();
  // A tick that shows a deviation resumes nobody.
  if (lane_.deviation()) return fail(*lane_.deviation());
  if (spoke_)
    if (auto heard = owner.hear(*control); !heard) {
      lane_.tick_failed();
      return lane_.deviation() ? fail(*lane_.deviation()) : heard;
    }
  lane_.advance();
  if (lane_.deviation()) return fail(*lane_.deviation());
  return {};
}

Result<void> Ticker::run(Owner& owner, int timeout_ms) {
  lane_.advance();
  while (!lane_.deviation() && lane_.waits() && !owner.enough())
    if (auto stepped = step(owner, timeout_ms); !stepped && !lane_.deviation()) return stepped;
  if (lane_.deviation()) return fail(*lane_.deviation());
  return {};
}

Result<void> Ticker::run(int timeout_ms) {
  Owner nobody;
  return run(nobody, timeout_ms);
}

Result<Ticker::Control> Ticker::try_end(int timeout_ms) {
  const bool full = sent(lane_.rounds()).full;
  if (!std::exchange(on_its_way_, true))
    if (auto given = send_tick(); !given) return given.error();
  lane_.prefetch();

  Control control;
  ByteSpan rest[2];  // by Neighbour
  for (Neighbour from : {Neighbour::kNext, Neighbour::kPrev}) {
    const auto side = static_cast<std::size_t>(from);
    if (!full && from == Neighbour::kPrev) break;
    auto packet = receive(from, timeout_ms);
    if (!packet) return packet.error();
    Reader in(*packet);
    Said& said = from == Neighbour::kNext ? control.next : control.prev;
    if (full && !get_control(in, said))
      return failed(from, false, fail("lane: a neighbour's packet is truncated"));
    rest[side] = in.raw(in.remaining());
    heard_[side] = rest[side];
  }
  const std::uint64_t ended = lane_.rounds();
  if (auto consumed = lane_.consume(rest[1], rest[0]); !consumed) {
    std::optional<Neighbour> whose;
    for (Neighbour from : {Neighbour::kNext, Neighbour::kPrev})
      if (rest[static_cast<std::size_t>(from)].size() != lane_.expected_from(from)) whose = from;
    return failed(whose, false, consumed.error());
  }
  note(ended, control);
  begun_ = false;
  return control;
}

}  // namespace tkdc
