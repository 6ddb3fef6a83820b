// SPDX-License-Identifier: Apache-2.0
#include "agent/client.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tkdc::agent {
namespace {

constexpr std::size_t kFrameMaxBytes = TKDC_WIRE_HEADER_BYTES + TKDC_WIRE_BODY_MAX_BYTES;
constexpr std::size_t kFirstBufferBytes = 16 * 1024;
// A buffer that a burst has made larger than this is given back when empty.
constexpr std::size_t kKeepBytes = 64 * 1024;

}  // namespace

Client::~Client() { ::close(fd_); }

bool Client::fill() {
  if (in_.empty()) in_.resize(kFirstBufferBytes);
  if (filled_ == in_.size()) in_.resize(std::min(in_.size() * 4, kFrameMaxBytes));
  while (filled_ < in_.size()) {
    const std::size_t room = in_.size() - filled_;
    ssize_t n = ::recv(fd_, in_.data() + filled_, room, MSG_DONTWAIT);
    if (n == 0) return false;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    filled_ += static_cast<std::size_t>(n);
    // There is no more now: epoll, which is level-triggered, tells when there is.
    if (static_cast<std::size_t>(n) < room) return true;
  }
  // A batch larger than the buffer: the next one is to fit.
  in_.resize(std::max(in_.size(), kKeepBytes));
  return true;
}

std::optional<Client::Frame> Client::next_frame() {
  if (malformed_ || filled_ - handled_ < TKDC_WIRE_HEADER_BYTES) return std::nullopt;
  Frame frame;
  const std::uint8_t* start = in_.data() + handled_;
  if (!tkdc_wire_get_header(start, &frame.header) || frame.header.status != 0) {
    malformed_ = true;
    return std::nullopt;
  }
  std::size_t bytes = TKDC_WIRE_HEADER_BYTES + frame.header.body_bytes;
  if (filled_ - handled_ < bytes) return std::nullopt;
  frame.body = {start + TKDC_WIRE_HEADER_BYTES, frame.header.body_bytes};
  handled_ += bytes;
  return frame;
}

void Client::consumed() {
  if (handled_ == 0) return;
  std::size_t rest = filled_ - handled_;
  std::memmove(in_.data(), in_.data() + handled_, rest);
  sodium_memzero(in_.data() + rest, filled_ - rest);
  filled_ = rest;
  handled_ = 0;
  if (rest == 0 && in_.size() > kKeepBytes) SecretVector().swap(in_);
}

void Client::reply(std::uint8_t op, std::uint64_t request, tkdc_status status, ByteSpan body) {
  tkdc_wire_header header{};
  header.op = op;
  header.status = static_cast<std::uint16_t>(status);
  header.id = request;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  std::size_t at = out_.size();
  if (at == sent_) progress_ = Clock::now();
  out_.resize(at + TKDC_WIRE_HEADER_BYTES);
  tkdc_wire_put_header(out_.data() + at, &header);
  out_.insert(out_.end(), body.begin(), body.end());
}

bool Client::flush(Clock::time_point now) {
  while (sent_ < out_.size()) {
    ssize_t n = ::send(fd_, out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    sodium_memzero(out_.data() + sent_, static_cast<std::size_t>(n));
    sent_ += static_cast<std::size_t>(n);
    progress_ = now;
  }
  sent_ = 0;
  out_.clear();
  if (out_.capacity() > kKeepBytes) SecretVector().swap(out_);
  return true;
}

}  // namespace tkdc::agent
