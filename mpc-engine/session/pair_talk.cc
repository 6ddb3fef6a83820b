// SPDX-License-Identifier: Apache-2.0
#include "session/pair_talk.h"

#include "base/hex.h"
#include "base/machine.h"
#include "session/calling.h"
#include "session/refusal.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxHeard = 2;  // a step's, and a refusal

}  // namespace

PairTalk::PairTalk(PacketStream& stream, const LinkBreaker& breaker, long long deadline_ms)
    : stream_(stream), breaker_(breaker), deadline_ms_(deadline_ms) {}

Result<void> PairTalk::look() {
  if (breaker_.tripped()) return fail("session: " + breaker_.reason());
  auto filled = stream_.fill();
  while (stream_.has_packet()) {
    const ByteSpan packet = stream_.take();
    if (is_refusal(packet))
      return fail("session: " + stream_.peer() + " refuses: " + refusal_text(packet));
    if (heard_.size() == kMaxHeard)
      return fail("session: " + stream_.peer() + " says more than the handshake asks for");
    heard_.emplace_back(packet.begin(), packet.end());
  }
  return heard_.empty() ? filled : Result<void>();
}

Result<Bytes> PairTalk::hear(Step step) {
  while (heard_.empty()) {
    if (auto open = look(); !open.ok()) return open.error();
    if (!heard_.empty()) break;
    if (monotonic_ms() >= deadline_ms_)
      return fail("session: " + stream_.peer() + " does not go on with the handshake in time");
    stream_.wait(monotonic_ms() + kSliceMs);
  }
  const Bytes packet = std::move(heard_.front());
  heard_.pop_front();
  if (packet.empty() || packet[0] != static_cast<std::uint8_t>(step))
    return fail("session: " + stream_.peer() + " is at another step of the handshake");
  return Bytes(packet.begin() + 1, packet.end());
}

Result<std::vector<Bytes>> PairTalk::exchange(Step step, const std::vector<Bytes>& bodies) {
  Bytes packet{static_cast<std::uint8_t>(step)};
  packet.insert(packet.end(), bodies[0].begin(), bodies[0].end());
  if (auto sent = stream_.send(packet); !sent.ok()) return sent.error();
  auto body = hear(step);
  if (!body.ok()) return body.error();
  return std::vector<Bytes>{std::move(*body)};
}

void PairTalk::refuse(const Error& why) { (void)stream_.send(encode_refusal(why.message)).ok(); }

Result<void> PairTalk::compare_inventories(Entries& entries, const SessionAdvice& advice) {
  auto mine = entries.inventory();
  if (!mine.ok()) return mine.error();
  const Bytes body(mine->begin(), mine->end());
  auto theirs = exchange(Step::kInventory, {body});
  if (!theirs.ok()) return theirs.error();
  if ((*theirs)[0] == body) return {};
  return fail("session: the inventories of the two servers differ (this server " + to_hex(body) +
              ", " + stream_.peer() + " " + to_hex((*theirs)[0]) + ")" +
              followed_by(advice.inventories));
}

Result<void> PairTalk::agree(Entries& entries, const SessionAdvice& advice) {
  auto done = settle_entries(*this, entries, advice);
  return done.ok() ? compare_inventories(entries, advice) : done;
}

Result<void> PairTalk::ready() {
  auto theirs = exchange(Step::kReady, {{}});
  return theirs.ok() ? Result<void>() : theirs.error();
}

}  // namespace tkdc
