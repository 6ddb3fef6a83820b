// SPDX-License-Identifier: Apache-2.0
// Sockets to the KDC, all in one epoll. Each request under way has a socket of
// its own, as each client has: the source port says whose answer a packet is. A
// UDP socket is used again only if one datagram went out on it and one came
// back; otherwise it rests, still bound, until no second answer can come: one
// could be taken for the answer of the next client, even if only the port number
// is given out again. A TCP connection carries one request and is reset, which
// leaves no TIME_WAIT.
//
// One thread. Nothing here knows Kerberos but for the length before a message
// on TCP.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>

#include <functional>

#include "base/result.h"
#include "storm/der.h"
#include "storm/schedule.h"

namespace tkdc::storm {

Nanoseconds monotonic();

struct Target {
  sockaddr_storage address{};
  socklen_t length = 0;
};
// HOST:PORT, [IPv6]:PORT; port 88 unless given.
Result<Target> resolve(const std::string& text);

using Slot = std::uint32_t;

class Transport {
 public:
  // What comes from the network; `packet` lives during the call only.
  std::function<void(Slot, ByteSpan packet)> on_packet;
  // A TCP connection ended before its answer, or the kernel refused a datagram.
  std::function<void(Slot)> on_broken;

  // Sockets rest for `rest`, `slots` of them at most.
  Transport(const Target& target, bool tcp, std::size_t slots, Nanoseconds rest = 15 * kSecond);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  std::optional<Slot> take();  // nothing when all are in use
  // Sends, or sends again; the octets are kept for that.
  Bytes& request(Slot slot) { return slots_[slot].request; }
  void send(Slot slot);
  void resend(Slot slot);
  // `clean`: one datagram out, one in.
  void release(Slot slot, bool clean);
  // Waits up to `timeout` and calls back for what has come.
  void poll(Nanoseconds timeout);

  std::size_t free_slots() const { return free_.size(); }
  std::uint64_t strays() const { return strays_; }
  // Of the first socket that could not be had; empty when all went well.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Socket {
    int fd = -1;
    bool busy = false;
    Bytes request;
    Bytes received;           // TCP: length and what came after it
    std::size_t written = 0;  // TCP
  };
  bool open(Slot slot);
  void close_socket(Slot slot);
  void send_udp(Slot slot);
  void write_tcp(Slot slot);
  void read_udp(Slot slot);
  void read_tcp(Slot slot);
  void broken(Slot slot);
  void lay_to_rest(Slot slot);

  Target target_;
  bool tcp_;
  int epoll_fd_;
  bool fine_timeouts_ = true;  // epoll_pwait2 is there
  std::vector<Socket> slots_;
  std::vector<Slot> free_;
  std::deque<std::pair<Nanoseconds, int>> resting_;  // until when, which
  Nanoseconds rest_;
  std::uint64_t strays_ = 0;
  std::string trouble_;
  Bytes buffer_;
};

// As many open files as the hard limit allows, up to what is wanted.
Result<void> allow_files(std::size_t wanted);

}  // namespace tkdc::storm
