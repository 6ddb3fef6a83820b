// SPDX-License-Identifier: Apache-2.0
#include "link/tls_link.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/system_error.h"
#include "link/round_trip.h"

namespace tkdc {
namespace {

constexpr int kMostReceiveMs = 60'000;  // of one packet, octet by octet

void signal_event(int fd) {
  std::uint64_t one = 1;
  // Fails only when the counter is full, and then the event is set anyway.
  [[maybe_unused]] ssize_t n = write(fd, &one, sizeof one);
}

void drain_event(int fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] ssize_t n = read(fd, &count, sizeof count);
}

}  // namespace

TlsLink::TlsLink(std::unique_ptr<TlsStream> prev, std::unique_ptr<TlsStream> next,
                 std::shared_ptr<LinkBreaker> breaker, UniqueFd event)
    : stream_{std::move(prev), std::move(next)}, breaker_(std::move(breaker)),
      event_(std::move(event)) {}

Result<std::unique_ptr<TlsLink>> TlsLink::create(std::unique_ptr<TlsStream> prev,
                                                 std::unique_ptr<TlsStream> next,
                                                 std::shared_ptr<LinkBreaker> breaker) {
  UniqueFd event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!event || breaker->fd() < 0)
    return system_error("link: no eventfd", "raise LimitNOFILE of the service");
  return std::unique_ptr<TlsLink>(
      new TlsLink(std::move(prev), std::move(next), std::move(breaker), std::move(event)));
}

Result<void> TlsLink::check_breaker() const {
  if (breaker_->tripped()) return fail("link: " + breaker_->reason());
  return {};
}

Result<void> TlsLink::send_pieces(Neighbour to, std::span<const ByteSpan> pieces) {
  auto open = check_breaker();
  if (!open.ok()) return open;
  counters_.packets_sent++;
  counters_.packet_bytes_sent += total_bytes(pieces);
  return stream(to).send_pieces(pieces);
}

Result<bool> TlsLink::pump(long long deadline_ms, bool* woken) {
  pollfd fds[4] = {{stream_[0]->fd(), stream_[0]->poll_events(), 0},
                   {stream_[1]->fd(), stream_[1]->poll_events(), 0},
                   {breaker_->fd(), POLLIN, 0},
                   {event_.get(), POLLIN, 0}};
  // Left out, hang-up included: a stream with enough packets waiting, and one
  // that has failed after packets which come first.
  for (int i = 0; i < 2; ++i)
    if (fds[i].events == 0 || stream_[i]->failed()) fds[i].fd = -1;
  long long left = std::max(deadline_ms - monotonic_ms(), 0LL);
  int rc = poll(fds, woken != nullptr ? 4 : 3, static_cast<int>(std::min(left, 1'000'000LL)));
  if (rc < 0 && errno != EINTR) return system_error("link: poll");
  if (rc == 0) return monotonic_ms() < deadline_ms;
  for (int i = 0; rc > 0 && i < 2; ++i) {
    if (fds[i].revents & POLLOUT) {
      auto sent = stream_[i]->flush();
      if (!sent.ok()) return sent.error();
    }
    if (fds[i].revents & (POLLIN | POLLHUP | POLLERR)) {
      auto filled = stream_[i]->fill();
      // Packets that came before the end of a stream are still delivered.
      if (!filled.ok() && !stream_[i]->has_packet()) return filled.error();
    }
  }
  if (rc > 0 && woken != nullptr && (fds[3].revents & POLLIN)) *woken = consume_wake();
  return true;
}

Result<ByteSpan> TlsLink::receive(Neighbour from, int timeout_ms) {
  TlsStream& source = stream(from);
  const long long began_ms = monotonic_ms();
  long long deadline_ms = began_ms + std::max(timeout_ms, 0);
  std::uint64_t arrived = source.bytes_received();
  bool in_time = true;
  if (!source.has_packet()) {
    // Under load the packet is there already: one read instead of poll and read.
    auto filled = source.fill();
    if (!filled.ok() && !source.has_packet()) return filled.error();
  }
  while (!source.has_packet()) {
    auto open = check_breaker();
    if (!open.ok()) return open.error();
    if (!in_time)
      return fail("link: no packet from " + source.peer() + " within " +
                  std::to_string(timeout_ms) + " ms");
    auto pumped = pump(deadline_ms, nullptr);
    if (!pumped.ok()) return pumped.error();
    in_time = *pumped;
    // A long packet on a slow line: breaking off would only begin it again.
    if (in_time || source.bytes_received() == arrived) continue;
    arrived = source.bytes_received();
    deadline_ms = monotonic_ms() + timeout_ms;
    in_time = monotonic_ms() < began_ms + kMostReceiveMs;
  }
  return source.take();
}

Result<Link::Event> TlsLink::wait(int timeout_ms) {
  long long deadline_ms = monotonic_ms() + std::max(timeout_ms, 0);
  for (;;) {
    auto open = check_breaker();
    if (!open.ok()) return open.error();
    if (wake_.load(std::memory_order_acquire) && consume_wake()) return Event::kWake;
    for (auto& one : stream_) {
      // What OpenSSL has read ahead is invisible to poll().
      if (!one->has_packet()) {
        auto filled = one->fill();
        if (!filled.ok() && !one->has_packet()) return filled.error();
      }
      if (one->has_packet()) return Event::kPacket;
    }
    bool woken = false;
    auto pumped = pump(deadline_ms, &woken);
    if (!pumped.ok()) return pumped.error();
    if (woken) return Event::kWake;
    if (!*pumped) return Event::kTimeout;
  }
}

Result<void> TlsLink::look() {
  for (auto& one : stream_)
    if (auto filled = one->fill(); !filled.ok()) return filled;
  return check_breaker();
}

bool TlsLink::consume_wake() {
  // Clear the event first: a wake() in between sets it again.
  drain_event(event_.get());
  return wake_.exchange(false, std::memory_order_acq_rel);
}

std::chrono::microseconds TlsLink::round_trip() const {
  std::chrono::microseconds slower{0};
  for (const auto& stream : stream_)
    slower = std::max(slower, fastest_round_trip(stream->fd()).value_or(slower));
  return slower;
}

void TlsLink::wake() {
  if (!wake_.exchange(true, std::memory_order_acq_rel)) signal_event(event_.get());
}

}  // namespace tkdc
