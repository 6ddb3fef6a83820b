// SPDX-License-Identifier: Apache-2.0
#include "storm/transport.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/system_error.h"

namespace tkdc::storm {
namespace {

constexpr std::size_t kMaxPacket = 64 * 1024;
constexpr int kEvents = 256;

}  // namespace

Result<Target> resolve(const std::string& text) {
  std::string host = text, port = "88";
  std::size_t colon = text.rfind(':'), bracket = text.rfind(']');
  if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) return fail("KDC " + text + ": " + gai_strerror(code));
  Target target;
  std::memcpy(&target.address, found->ai_addr, found->ai_addrlen);
  target.length = found->ai_addrlen;
  freeaddrinfo(found);
  return target;
}

Result<void> allow_files(std::size_t wanted) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return {};
  if (limit.rlim_max < wanted)
    return fail("only " + std::to_string(limit.rlim_max) + " open files are allowed here (" +
                std::to_string(wanted) + " wanted): raise ulimit -Hn or lower --sockets");
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
  return {};
}

Nanoseconds monotonic() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

Transport::Transport(const Target& target, bool tcp, std::size_t slots, Nanoseconds rest)
    : target_(target), tcp_(tcp), epoll_fd_(epoll_create1(EPOLL_CLOEXEC)), slots_(slots),
      rest_(rest), buffer_(kMaxPacket) {
  // The last is taken first: few sockets stay warm as long as few are needed.
  for (std::size_t i = slots; i-- > 0;) free_.push_back(static_cast<Slot>(i));
}

Transport::~Transport() {
  for (Slot slot = 0; slot < slots_.size(); ++slot) close_socket(slot);
  for (const auto& [until, fd] : resting_) close(fd);
  close(epoll_fd_);
}

std::optional<Slot> Transport::take() {
  if (free_.empty()) return std::nullopt;
  Slot slot = free_.back();
  free_.pop_back();
  slots_[slot].busy = true;
  return slot;
}

bool Transport::open(Slot slot) {
  Socket& s = slots_[slot];
  int kind = (tcp_ ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
  s.fd = socket(target_.address.ss_family, kind, 0);
  const auto* address = reinterpret_cast<const sockaddr*>(&target_.address);
  if (s.fd < 0 || (connect(s.fd, address, target_.length) != 0 && errno != EINPROGRESS)) {
    if (trouble_.empty()) trouble_ = system_error("no socket to the KDC").message;
    close_socket(slot);
    return false;
  }
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET | (tcp_ ? EPOLLOUT | EPOLLRDHUP : 0U);
  event.data.u32 = slot;
  epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, s.fd, &event);
  return true;
}

void Transport::close_socket(Slot slot) {
  Socket& s = slots_[slot];
  if (s.fd < 0) return;
  if (tcp_) {
    linger reset{1, 0};
    setsockopt(s.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  }
  close(s.fd);
  s.fd = -1;
}

void Transport::send(Slot slot) {
  Socket& s = slots_[slot];
  s.written = 0;
  s.received.clear();
  if (tcp_) {
    auto length = static_cast<std::uint32_t>(s.request.size());
    std::array<std::uint8_t, 4> prefix{};
    for (int i = 0; i < 4; ++i) prefix[i] = static_cast<std::uint8_t>(length >> (24 - 8 * i));
    s.request.insert(s.request.begin(), prefix.begin(), prefix.end());
  }
  resend(slot);
}

void Transport::resend(Slot slot) {
  Socket& s = slots_[slot];
  if (tcp_ && s.fd >= 0) return;  // the connection repeats what is lost
  s.written = 0;
  s.received.clear();
  if (s.fd < 0 && !open(slot)) return;
  if (!tcp_) send_udp(slot);  // TCP: when the connection is there, poll() says so
}

void Transport::send_udp(Slot slot) {
  Socket& s = slots_[slot];
  // A refusal that an earlier datagram met is reported here; the second try sends.
  for (int i = 0; i < 2; ++i)
    if (::send(s.fd, s.request.data(), s.request.size(), MSG_DONTWAIT) >= 0) return;
  on_broken(slot);
}

void Transport::release(Slot slot, bool clean) {
  slots_[slot].busy = false;
  if (tcp_)
    close_socket(slot);
  else if (!clean)
    lay_to_rest(slot);
  free_.push_back(slot);
}

void Transport::lay_to_rest(Slot slot) {
  Nanoseconds now = monotonic();
  if (slots_[slot].fd >= 0) {
    epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, slots_[slot].fd, nullptr);
    resting_.emplace_back(now + rest_, slots_[slot].fd);
    slots_[slot].fd = -1;
  }
  while (!resting_.empty() && (resting_.front().first <= now || resting_.size() > slots_.size())) {
    close(resting_.front().second);
    resting_.pop_front();
  }
}

void Transport::broken(Slot slot) {
  close_socket(slot);
  on_broken(slot);
}

void Transport::write_tcp(Slot slot) {
  Socket& s = slots_[slot];
  while (s.fd >= 0 && s.written < s.request.size()) {
    ssize_t n = ::send(s.fd, s.request.data() + s.written, s.request.size() - s.written,
                       MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      s.written += static_cast<std::size_t>(n);
    } else {
      if (errno != EAGAIN && errno != ENOTCONN) broken(slot);
      return;
    }
  }
}

void Transport::read_udp(Slot slot) {
  for (;;) {
    Socket& s = slots_[slot];
    if (s.fd < 0) return;
    ssize_t n = recv(s.fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (n < 0) {
      if (errno == ECONNREFUSED && s.busy) on_broken(slot);
      return;
    }
    if (s.busy)
      on_packet(slot, {buffer_.data(), static_cast<std::size_t>(n)});
    else
      ++strays_;
  }
}

void Transport::read_tcp(Slot slot) {
  Socket& s = slots_[slot];
  while (s.fd >= 0) {
    ssize_t n = recv(s.fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (n <= 0) {
      if (n == 0 || (errno != EAGAIN && errno != ENOTCONN)) broken(slot);
      return;
    }
    s.received.insert(s.received.end(), buffer_.begin(), buffer_.begin() + n);
    if (s.received.size() < 4) continue;
    std::uint32_t length = 0;
    for (int i = 0; i < 4; ++i) length = length << 8 | s.received[static_cast<std::size_t>(i)];
    if (length > kMaxPacket) return broken(slot);
    if (s.received.size() - 4 < length) continue;
    Bytes packet(s.received.begin() + 4, s.received.begin() + 4 + length);
    on_packet(slot, packet);
    return;
  }
}

void Transport::poll(Nanoseconds timeout) {
  std::array<epoll_event, kEvents> events;
  int n = -1;
  if (fine_timeouts_) {
    timespec wait{timeout / kSecond, timeout % kSecond};
    n = epoll_pwait2(epoll_fd_, events.data(), kEvents, &wait, nullptr);
    if (n < 0 && errno == ENOSYS) fine_timeouts_ = false;
  }
  if (!fine_timeouts_)
    n = epoll_wait(epoll_fd_, events.data(), kEvents, static_cast<int>(timeout / 1'000'000));
  for (int i = 0; i < n; ++i) {
    Slot slot = events[static_cast<std::size_t>(i)].data.u32;
    if (!tcp_) {
      read_udp(slot);
    } else if (slots_[slot].fd >= 0) {
      write_tcp(slot);
      read_tcp(slot);
    }
  }
}

}  // namespace tkdc::storm
