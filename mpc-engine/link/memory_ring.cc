// SPDX-License-Identifier: Apache-2.0
#include "link/memory_ring.h"

#include <chrono>

namespace tkdc {
namespace {

int neighbour_of(int party, Neighbour side) {
  return side == Neighbour::kNext ? (party + 1) % 3 : (party + 2) % 3;
}

Neighbour opposite(Neighbour side) {
  return side == Neighbour::kNext ? Neighbour::kPrev : Neighbour::kNext;
}

std::size_t index(Neighbour side) { return static_cast<std::size_t>(side); }

}  // namespace

class MemoryRing::End final : public Link {
 public:
  End(std::shared_ptr<MemoryRing> ring, int party) : ring_(std::move(ring)), party_(party) {}
  ~End() override { ring_->leave(party_); }

  Result<void> send_pieces(Neighbour to, std::span<const ByteSpan> pieces) override {
    if (total_bytes(pieces) > kMaxPacketBytes) return fail("link: packet above 64 MiB");
    {
      std::lock_guard lock(inbox().mutex);
      if (!inbox().down.empty()) return fail("link: " + inbox().down);
    }
    counters_.packets_sent++;
    counters_.packet_bytes_sent += total_bytes(pieces);
    SecretVector packet;
    packet.reserve(total_bytes(pieces));
    for (ByteSpan piece : pieces) packet.insert(packet.end(), piece.begin(), piece.end());
    ring_->carry(party_, to, std::move(packet));
    return {};
  }

  Result<ByteSpan> receive(Neighbour from, int timeout_ms) override {
    auto& queue = inbox().packets[index(from)];
    std::unique_lock lock(inbox().mutex);
    inbox().changed.wait_for(lock, std::chrono::milliseconds(std::max(timeout_ms, 0)),
                             [&] { return !queue.empty() || !inbox().down.empty(); });
    if (!queue.empty()) {
      current_[index(from)] = std::move(queue.front());
      queue.pop_front();
      return ByteSpan(current_[index(from)]);
    }
    if (!inbox().down.empty()) return fail("link: " + inbox().down);
    return fail("link: no packet from party " + std::to_string(neighbour_of(party_, from)) +
                " within " + std::to_string(timeout_ms) + " ms");
  }

  Result<Event> wait(int timeout_ms) override {
    std::unique_lock lock(inbox().mutex);
    auto packet = [&] { return !inbox().packets[0].empty() || !inbox().packets[1].empty(); };
    inbox().changed.wait_for(lock, std::chrono::milliseconds(std::max(timeout_ms, 0)),
                             [&] { return inbox().woken || packet() || !inbox().down.empty(); });
    if (std::exchange(inbox().woken, false)) return Event::kWake;
    if (packet()) return Event::kPacket;
    if (!inbox().down.empty()) return fail("link: " + inbox().down);
    return Event::kTimeout;
  }

  void wake() override {
    std::lock_guard lock(inbox().mutex);
    inbox().woken = true;
    inbox().changed.notify_all();
  }

  void abort(const std::string& reason) override { ring_->close(reason); }

  Counters counters() const override { return counters_; }

 private:
  Inbox& inbox() { return ring_->inbox_[party_]; }

  std::shared_ptr<MemoryRing> ring_;
  int party_;
  SecretVector current_[2];
  Counters counters_;
};

std::unique_ptr<Link> MemoryRing::link(int party) {
  return std::make_unique<End>(shared_from_this(), party);
}

void MemoryRing::close(const std::string& reason) {
  for (Inbox& inbox : inbox_) {
    std::lock_guard lock(inbox.mutex);
    if (inbox.down.empty()) inbox.down = reason;
    inbox.changed.notify_all();
  }
}

void MemoryRing::carry(int from, Neighbour to, SecretVector packet) {
  deliver(from, to, std::move(packet));
}

void MemoryRing::deliver(int from, Neighbour to, SecretVector packet) {
  Inbox& inbox = inbox_[neighbour_of(from, to)];
  std::lock_guard lock(inbox.mutex);
  inbox.packets[index(opposite(to))].push_back(std::move(packet));
  inbox.changed.notify_all();
}

void MemoryRing::leave(int party) { close("party " + std::to_string(party) + " closed the link"); }

}  // namespace tkdc
