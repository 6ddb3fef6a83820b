// SPDX-License-Identifier: Apache-2.0
#include "sim/bulk.h"

#include <cstring>

#include "base/machine.h"
#include "sim/garbling.h"

namespace tkdc::sim {
namespace {

using By = OctetRing::Failure::By;

enum Kind : std::uint8_t { kOctets = 1, kEnd = 2, kConfirm = 3, kAbort = 4 };

constexpr std::size_t kMostOctets = 60'000;  // of a packet

// The thread behind a ring. It alone uses the connection.
class Pump final : public BulkCarrier {
 public:
  Pump(std::unique_ptr<PacketStream> stream, HasNews news, std::shared_ptr<OctetRing> ring,
       RingSide owner)
      : stream_(std::move(stream)), news_(std::move(news)), ring_(std::move(ring)),
        writes_(owner == RingSide::kWriter) {
    stream_->set_max_packet_bytes(kMostOctets + 1);
    thread_ = machine().start([this] { run(); });
  }
  ~Pump() override {
    leaving_ = true;
    thread_.reset();
  }

 private:
  By peer() const { return writes_ ? By::kReader : By::kWriter; }
  bool over() const { return ring_->failure() || done_ || leaving_; }
  bool ring_is_ready() const {
    if (!writes_) return unread_.empty() ? stream_->has_packet() : ring_->room() > 0;
    return ring_->size() > 0 || (ring_->finished() && !end_passed_);
  }
  void wait() {
    // What has come while the ring has no room waits for that.
    const bool reads = unread_.empty();
    world().wait(kNever, [this, reads] { return over() || ring_is_ready() || (reads && news_()); });
  }

  void run() {
    while (!over()) {
      const auto done = writes_ ? write_step() : read_step();
      if (done) continue;
      ring_->fail(By::kConnection, done.error().message);
      done_ = true;
    }
    say_goodbye();
    stream_.reset();
  }

  // Why this end stops, where the peer does not know it.
  void say_goodbye() {
    const auto failure = ring_->failure();
    if (!failure || failure->by == By::kConnection || failure->by == peer()) return;
    const auto* text = reinterpret_cast<const std::uint8_t*>(failure->reason.data());
    (void)send(kAbort, {text, failure->reason.size()}).ok();
  }

  Result<void> send(Kind kind, ByteSpan first = {}, ByteSpan second = {}) {
    const std::uint8_t octet = kind;
    const ByteSpan pieces[] = {{&octet, 1}, first, second};
    return stream_->send_pieces(pieces);
  }

  Result<void> write_step() {
    auto filled = stream_->fill();
    while (stream_->has_packet() && !over()) hear_reader(stream_->take());
    if (over() || !filled) return over() ? Result<void>() : filled;
    const auto [first, second] = ring_->front(kMostOctets);
    if (!first.empty()) {
      const Host& host = world().here();
      if (world().plan.garbles() && !host.dead) note_tables(host.number, first);
      auto sent = send(kOctets, first, second);
      ring_->drop(first.size() + second.size());
      return sent;
    }
    if (ring_->finished() && !end_passed_) {
      end_passed_ = true;
      return send(kEnd);
    }
    wait();
    return {};
  }

  void hear_reader(ByteSpan packet) {
    if (packet.size() == 1 && packet[0] == kConfirm && end_passed_) {
      ring_->confirm();
      done_ = true;
    } else {
      hear_end(packet);
    }
  }

  Result<void> read_step() {
    while (!unread_.empty()) {
      const MutableByteSpan to = ring_->place();
      const std::size_t bytes = std::min(to.size(), unread_.size());
      if (bytes == 0) {
        wait();
        return {};
      }
      std::memcpy(to.data(), unread_.data(), bytes);
      ring_->put(bytes);
      unread_ = unread_.subspan(bytes);
    }
    done_ = end_passed_;
    if (done_) return {};
    auto filled = stream_->fill();
    if (stream_->has_packet()) return hear_writer(stream_->take());
    if (filled) wait();
    return filled;
  }

  Result<void> hear_writer(ByteSpan packet) {
    if (packet.size() > 1 && packet[0] == kOctets) {
      unread_ = packet.subspan(1);
    } else if (packet.size() == 1 && packet[0] == kEnd) {
      end_passed_ = true;
      ring_->finish(true);
      return send(kConfirm);
    } else {
      hear_end(packet);
    }
    return {};
  }

  void hear_end(ByteSpan packet) {
    if (!packet.empty() && packet[0] == kAbort)
      ring_->fail(peer(), std::string(packet.begin() + 1, packet.end()));
    else
      ring_->fail(By::kPeer,
                  "a record of " + std::to_string(packet.size()) + " octets has no meaning here");
  }

  std::unique_ptr<PacketStream> stream_;
  const HasNews news_;
  const std::shared_ptr<OctetRing> ring_;
  const bool writes_;
  bool leaving_ = false, end_passed_ = false, done_ = false;
  ByteSpan unread_;  // of the packet taken last: the ring had no room
  std::unique_ptr<Machine::Thread> thread_;
};

template <class End>
std::unique_ptr<End> end_on(RingSide side, std::unique_ptr<PacketStream> stream, HasNews news) {
  BulkOptions options;
  // No OTs go through it; or there are many.
  if (world().plan.protocol == kPairPlain || world().plan.garbles()) options.ring_bytes /= 4;
  std::string peer = stream->peer();
  auto ring = std::make_shared<OctetRing>(options.ring_bytes, options.stall_ms);
  auto pump = std::make_unique<Pump>(std::move(stream), std::move(news), ring, side);
  return std::make_unique<End>(std::move(ring), std::move(pump), std::move(peer));
}

}  // namespace

std::unique_ptr<BulkWriter> bulk_writer_on(std::unique_ptr<PacketStream> stream, HasNews news) {
  return end_on<BulkWriter>(RingSide::kWriter, std::move(stream), std::move(news));
}

std::unique_ptr<BulkReader> bulk_reader_on(std::unique_ptr<PacketStream> stream, HasNews news) {
  return end_on<BulkReader>(RingSide::kReader, std::move(stream), std::move(news));
}

}  // namespace tkdc::sim
