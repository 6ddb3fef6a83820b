// SPDX-License-Identifier: Apache-2.0
#include "link/tls_bulk_stream.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/system_error.h"
#include "link/socket.h"

namespace tkdc {
namespace {

using By = OctetRing::Failure::By;

enum Kind : std::uint8_t { kOctets = 1, kEnd = 2, kConfirm = 3, kAbort = 4 };

constexpr std::size_t kMaxReasonBytes = 200;
constexpr int kGoodbyeMs = 200;  // for the last record, to a peer that reads

// A peer's text goes into logs.
std::string printable(ByteSpan text) {
  std::string out;
  for (std::uint8_t octet : text.first(std::min(text.size(), kMaxReasonBytes)))
    out += octet >= ' ' && octet <= '~' ? static_cast<char>(octet) : '?';
  return out;
}

ByteSpan octets_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// The thread behind a ring. It alone uses the connection.
class Pump final : public BulkCarrier {
 public:
  Pump(std::unique_ptr<TlsStream> stream, std::shared_ptr<OctetRing> ring, RingSide owner)
      : stream_(std::move(stream)), ring_(std::move(ring)), owner_(owner),
        event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  // Its ring has ended.
  ~Pump() override {
    ring_->set_callback(own_side(), nullptr);
    leaving_ = true;
    signal();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> start();

 private:
  // Of the ring.
  RingSide own_side() const {
    return owner_ == RingSide::kWriter ? RingSide::kReader : RingSide::kWriter;
  }
  By peer() const { return owner_ == RingSide::kWriter ? By::kReader : By::kWriter; }

  void signal();
  void ring_changed(OctetRing::Change change);
  void run();
  Result<void> write_step();
  Result<void> read_step();
  Result<void> send(Kind kind, ByteSpan first = {}, ByteSpan second = {});
  Result<void> send_next();
  Result<void> hear_reader();
  Result<void> hear_writer();
  void refuse(ByteSpan packet);
  bool sending() const { return (stream_->poll_events() & POLLOUT) != 0; }
  bool ring_is_ready() const;
  // Waits for the owner, for the socket's `events` unless 0, and for the ring where that is so.
  Result<void> sleep(short events, bool ring);
  bool over() const { return ring_->failure().has_value() || done_ || leaving_; }
  void say_goodbye();

  std::unique_ptr<TlsStream> stream_;
  const std::shared_ptr<OctetRing> ring_;
  const RingSide owner_;
  UniqueFd event_;
  std::atomic<bool> asleep_{false};  // until the ring changes
  std::atomic<bool> leaving_{false};
  bool end_passed_ = false;  // sent, or heard
  bool done_ = false;
  ByteSpan unread_;  // of the packet taken last: the ring had no room
  std::uint64_t heard_bytes_ = 0;
  std::thread thread_;
};

Result<void> Pump::start() {
  if (!event_) return system_error("stream: no eventfd", "raise LimitNOFILE of the service");
  tune_bulk_socket(stream_->fd());
  stream_->set_max_packet_bytes(kMaxBulkPayloadBytes + 1);
  stream_->set_max_waiting_bytes(kMaxBulkPayloadBytes);
  ring_->set_callback(own_side(), [this](OctetRing::Change change) { ring_changed(change); });
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return system_error("stream: no thread", "raise TasksMax of the service", error.code().value());
  }
  return {};
}

void Pump::signal() {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the event is set anyway.
  [[maybe_unused]] ssize_t n = ::write(event_.get(), &one, sizeof one);
}

void Pump::ring_changed(OctetRing::Change change) {
  if (asleep_.exchange(false) || change == OctetRing::Change::kState) signal();
}

void Pump::run() {
  while (!over()) {
    auto done = owner_ == RingSide::kWriter ? write_step() : read_step();
    if (done.ok()) continue;
    ring_->fail(By::kConnection, done.error().message);
    done_ = true;
  }
  say_goodbye();
  stream_.reset();
}

// The reason why this end stops, where the peer does not know it, and what is still on its way.
void Pump::say_goodbye() {
  const auto failure = ring_->failure();
  if (stream_->failed() || (failure && failure->by == By::kConnection)) return;
  if (failure && failure->by != peer()) {
    const ByteSpan reason = octets_of(failure->reason);
    if (!send(kAbort, reason.first(std::min(reason.size(), kMaxReasonBytes))).ok()) return;
  }
  const long long deadline_ms = monotonic_ms() + kGoodbyeMs;
  while (sending() && wait_ready(stream_->fd(), POLLOUT, deadline_ms))
    if (!stream_->flush().ok()) return;
}

Result<void> Pump::send(Kind kind, ByteSpan first, ByteSpan second) {
  const std::uint8_t octet = kind;
  const ByteSpan pieces[] = {{&octet, 1}, first, second};
  return stream_->send_pieces(pieces);
}

bool Pump::ring_is_ready() const {
  if (ring_->failure()) return true;
  if (owner_ == RingSide::kReader) return ring_->room() > 0;
  return ring_->size() > 0 || (ring_->finished() && !end_passed_);
}

Result<void> Pump::sleep(short events, bool ring) {
  asleep_ = ring;
  const int timeout_ms = ring && ring_is_ready() ? 0 : -1;
  pollfd fds[2] = {{event_.get(), POLLIN, 0}, {stream_->fd(), events, 0}};
  const int rc = ::poll(fds, events != 0 ? 2 : 1, timeout_ms);
  asleep_ = false;
  if (rc < 0 && errno != EINTR) return system_error("poll");
  if (rc <= 0) return {};
  if (fds[0].revents != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] ssize_t n = ::read(event_.get(), &count, sizeof count);
  }
  if ((fds[1].revents & POLLOUT) != 0) {
    ring_->touch();
    if (auto sent = stream_->flush(); !sent.ok()) return sent;
  }
  if (owner_ == RingSide::kWriter && (fds[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
    return hear_reader();
  return {};
}

// ---- behind a writer

Result<void> Pump::send_next() {
  const auto [first, second] = ring_->front(kMaxBulkPayloadBytes);
  if (!first.empty()) {
    auto sent = send(kOctets, first, second);
    ring_->drop(first.size() + second.size());
    return sent;
  }
  if (!ring_->finished() || end_passed_) return {};
  end_passed_ = true;
  return send(kEnd);
}

// A record at a time: the next one when the socket has taken all of the last.
Result<void> Pump::write_step() {
  auto done = sending() ? Result<void>() : send_next();
  if (done.ok()) done = sleep(POLLIN | (sending() ? POLLOUT : 0), !sending());
  if (done.ok()) return done;
  // A reader that gave up has said why before it closed the connection.
  (void)hear_reader().ok();
  return done;
}

Result<void> Pump::hear_reader() {
  auto filled = stream_->fill();
  while (stream_->has_packet() && !over()) {
    const ByteSpan packet = stream_->take();
    if (packet.size() == 1 && packet[0] == kConfirm && end_passed_) {
      ring_->confirm();
      done_ = true;
    } else if (!packet.empty() && packet[0] == kAbort) {
      ring_->fail(peer(), printable(packet.subspan(1)));
    } else {
      refuse(packet);
    }
  }
  return over() ? Result<void>() : filled;
}

// ---- behind a reader

Result<void> Pump::read_step() {
  while (!unread_.empty()) {
    const MutableByteSpan to = ring_->place();
    const std::size_t bytes = std::min(to.size(), unread_.size());
    if (bytes == 0) return sleep(0, true);
    std::memcpy(to.data(), unread_.data(), bytes);
    ring_->put(bytes);
    unread_ = unread_.subspan(bytes);
  }
  if (end_passed_) {
    done_ = !sending();
    return done_ ? Result<void>() : sleep(POLLOUT, false);
  }
  if (stream_->has_packet()) return hear_writer();
  // poll() does not see what OpenSSL has read ahead.
  auto filled = stream_->fill();
  if (stream_->has_packet()) return hear_writer();
  if (!filled.ok()) return filled;
  if (stream_->bytes_received() != heard_bytes_) ring_->touch();  // a part of a record
  heard_bytes_ = stream_->bytes_received();
  return sleep(stream_->poll_events(), false);
}

Result<void> Pump::hear_writer() {
  const ByteSpan packet = stream_->take();
  if (packet.size() > 1 && packet[0] == kOctets) {
    unread_ = packet.subspan(1);
    return {};
  }
  if (packet.size() == 1 && packet[0] == kEnd) {
    end_passed_ = true;
    ring_->finish(true);
    return send(kConfirm);
  }
  if (!packet.empty() && packet[0] == kAbort)
    ring_->fail(peer(), printable(packet.subspan(1)));
  else
    refuse(packet);
  return {};
}

void Pump::refuse(ByteSpan packet) {
  const std::string kind = packet.empty() ? "no kind" : "kind " + std::to_string(packet[0]);
  ring_->fail(By::kPeer, "a record of " + kind + " and " + std::to_string(packet.size()) +
                             " octets has no meaning here");
}

template <class End>
Result<std::unique_ptr<End>> make_end(RingSide side, std::unique_ptr<TlsStream> stream,
                                      const BulkOptions& options) {
  std::string peer = stream->peer();
  auto ring = std::make_shared<OctetRing>(options.ring_bytes, options.stall_ms);
  auto pump = std::make_unique<Pump>(std::move(stream), ring, side);
  if (auto started = pump->start(); !started.ok()) return started.error();
  return std::make_unique<End>(std::move(ring), std::move(pump), std::move(peer));
}

}  // namespace

Result<std::unique_ptr<BulkWriter>> make_tls_bulk_writer(std::unique_ptr<TlsStream> stream,
                                                         const BulkOptions& options) {
  return make_end<BulkWriter>(RingSide::kWriter, std::move(stream), options);
}

Result<std::unique_ptr<BulkReader>> make_tls_bulk_reader(std::unique_ptr<TlsStream> stream,
                                                         const BulkOptions& options) {
  return make_end<BulkReader>(RingSide::kReader, std::move(stream), options);
}

}  // namespace tkdc
