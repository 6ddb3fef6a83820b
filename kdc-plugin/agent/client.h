// SPDX-License-Identifier: Apache-2.0
// One connection on the agent's socket: frames in, replies out.
//
// Non-blocking, used by the agent's thread. Its buffers hold plaintexts and
// are wiped as soon as a frame was dealt with or a reply has left. Bounded in
// both directions: reading pauses while kPauseUnsentBytes of replies wait, and
// a peer that lets kMaxUnsentBytes pile up, or takes nothing for
// kMaxStallTime, is disconnected.
#pragma once

#include <sys/types.h>

#include <optional>

#include "agent/server_link.h"
#include "wire.h"

namespace tkdc::agent {

inline constexpr std::size_t kPauseUnsentBytes = 512 * 1024;
inline constexpr std::size_t kMaxUnsentBytes = 8u << 20;
inline constexpr auto kMaxStallTime = std::chrono::seconds(30);

class Client {
 public:
  Client(int fd, std::uint64_t id) : fd_(fd), id_(id) {}
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Reads what is there, at most about one largest frame. False: the peer is gone.
  bool fill();

  struct Frame {
    tkdc_wire_header header{};
    ByteSpan body;  // valid until consumed()
  };
  // The next complete frame, if any. After malformed() the stream is lost.
  std::optional<Frame> next_frame();
  bool malformed() const { return malformed_; }
  // Wipes the frames that were handed out and keeps the rest.
  void consumed();

  void reply(std::uint8_t op, std::uint64_t request, tkdc_status status, ByteSpan body);
  // Sends what the socket takes. False: the peer is gone.
  bool flush(Clock::time_point now);

  bool wants_input() const { return unsent() < kPauseUnsentBytes; }
  std::size_t unsent() const { return out_.size() - sent_; }
  bool stalled(Clock::time_point now) const {
    return unsent() > kMaxUnsentBytes || (unsent() > 0 && now - progress_ > kMaxStallTime);
  }

  int fd() const { return fd_; }
  std::uint64_t id() const { return id_; }

  tkdc_wire_role role = TKDC_ROLE_ADMIN;  // until HELLO says kdc; the agent's own role also counts
  std::uint32_t epoll_events = 0;         // what the loop has asked epoll for
  bool only_status = false;               // came by agent.status_socket
  bool dirty = false;                     // has replies that this pass must send

 private:
  int fd_;
  std::uint64_t id_;
  bool malformed_ = false;
  SecretVector in_;
  std::size_t filled_ = 0;   // octets of in_ that were received
  std::size_t handled_ = 0;  // octets of in_ that were handed out
  SecretVector out_;
  std::size_t sent_ = 0;
  Clock::time_point progress_ = Clock::now();
};

}  // namespace tkdc::agent
