// SPDX-License-Identifier: Apache-2.0
#include "pair/dealt_entry.h"

#include <string>

#include "base/now_public.h"
#include "pair/input_check.h"

namespace tkdc::pair {
namespace {

constexpr char kDealDropped[] =
    "pair: what the client dealt does not fit what both servers have: this job is dropped, and the "
    "session goes on";

// One to the other, and back.
template <class T>
Result<void> exchanged(ot::Channel& channel, const T& own, T& peers) {
  if (auto sent = channel.write_all(std::span<const T>(&own, 1)); !sent) return sent;
  return channel.read_all(std::span(&peers, 1));
}

}  // namespace

Result<EntryMasks> EntryMasks::draw(const Session& session, std::size_t dealt_bits,
                                    const Draw& draw) {
  AuthBits bits(dealt_bits + kBlockBits);
  if (auto drawn = draw(bits); !drawn) return drawn.error();
  return EntryMasks(session.id(), std::move(bits));
}

Result<EntryMasks> EntryMasks::draw(Session& session, std::size_t dealt_bits) {
  return draw(session, dealt_bits, [&](std::span<AuthBit> bits) { return session.draw(bits); });
}

class DealtEntry {
 public:
  DealtEntry(Session& session, EntryMasks& masks, Dealt& dealt)
      : session_(session), bits_(std::move(masks.bits_)), dealt_(dealt) {}

  static Result<void> fits(const Session& session, const EntryMasks& masks, const Dealt& dealt,
                           std::size_t pad_bits) {
    const std::size_t bits = dealt.share.size();
    if (masks.bits_.empty()) return fail("pair: these masks have served: draw others");
    if (!session.is(masks.session_)) return fail("pair: masks of another session");
    if (masks.dealt_bits() != bits || dealt.tags.size() != blocks_for(bits) + 1 || pad_bits > bits)
      return fail("pair: what the client dealt is not as long as the job's input and pad");
    if (!session.is(dealt.session))
      return fail("pair: a client dealt this for another session: it is dealt again for this one");
    if (!is_unused(session.state_of_deal(dealt.client, dealt.number) != ServedDeals::Is::kNew))
      return fail("pair: this deal has served: a job that is tried again is dealt again");
    return {};
  }

  // Whether the client's MACs fit at both.
  Result<bool> run() {
    session_.deal_serves(dealt_.client, dealt_.number);
    if (auto moved = say_shares(); !moved) return session_.end(moved.error().message);
    const Proved proved = to_prove();
    const Label coin = draw_coin();
    Label peers_coin;
    Proof proof;
    auto done = exchanged(session_.channel(), coin, peers_coin);
    if (done) done = exchanged(session_.channel(), prove(proved, peers_coin), proof);
    if (!done) return session_.end(done.error().message);
    const Found found = verify(proved, session_.deltas(), coin, proof);
    if (!found.session) return session_.end("it proves other inputs than it has masked");
    const auto verdict = static_cast<std::uint8_t>(found.other);
    std::uint8_t peers_verdict = 0;
    done = exchanged(session_.channel(), verdict, peers_verdict);
    if (!done) return session_.end(done.error().message);
    if (peers_verdict > 1) return session_.end("its verdict is none");
    return verdict == 1 && peers_verdict == 1;
  }

  Held input(std::size_t pad_bits) const { return part(0, dealt_.share.size() - pad_bits); }
  HeldOnce pad(std::size_t pad_bits) const {
    return HeldOnce(part(dealt_.share.size() - pad_bits, dealt_.share.size()));
  }

 private:
  std::uint8_t own_bit(std::size_t k) const {
    return k < dealt_.share.size() ? dealt_.share[k] : bit_of(dealt_.mask, k - dealt_.share.size());
  }
  Held part(std::size_t first, std::size_t end) const {
    return Held{session_.id(), AuthBits(&bits_[first], &bits_[end])};
  }

  // The masks become what both have said, moved by it: the share's bits, then R's.
  Result<void> say_shares() {
    Bits said(bits_.size());
    for (std::size_t k = 0; k < said.size(); ++k)
      said[k] = static_cast<std::uint8_t>(own_bit(k) ^ bits_[k].own());
    now_public(said.data(), said.size());
    Bytes octets = packed(said);
    if (auto sent = session_.channel().write(octets); !sent) return sent;
    if (auto got = session_.channel().read(octets); !got) return got;
    now_public(octets.data(), octets.size());
    const Bits heard = unpacked(octets, said.size());
    for (std::size_t k = 0; k < said.size(); ++k)
      bits_[k] = session_.deltas().moved(bits_[k], said[k], heard[k]);
    return {};
  }

  Proved to_prove() const {
    Proved out;
    const std::span<const AuthBit> all(bits_);
    out.in_session = blocks_of(all.first(dealt_.share.size()));
    out.in_session.push_back(block_of(all.last(kBlockBits)));
    out.other_macs = dealt_.tags;
    const DealtKeys keys(dealt_.peers_key, out.in_session.size());
    out.other_delta = keys.delta();
    out.other_keys.assign(keys.q().begin(), keys.q().end());
    return out;
  }

  Session& session_;
  AuthBits bits_;
  Dealt& dealt_;
};

EnterResult enter_dealt(Session& session, EntryMasks masks, Dealt dealt, std::size_t pad_bits) {
  if (auto good = session.stands(); !good) return {good.error(), Went::kEnded};
  if (auto good = DealtEntry::fits(session, masks, dealt, pad_bits); !good)
    return {good.error(), Went::kRefused};
  DealtEntry entry(session, masks, dealt);
  auto both = entry.run();
  if (!both) return {both.error(), Went::kEnded};
  if (!*both) return {fail(kDealDropped), Went::kDropped};
  return EnteredDeal{entry.input(pad_bits), entry.pad(pad_bits)};
}

}  // namespace tkdc::pair
