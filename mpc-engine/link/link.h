// SPDX-License-Identifier: Apache-2.0
// One lane's links to both neighbours in the ring: packets in, packets out.
//
// Party j calls party j-1 (mod 3) its kPrev and party j+1 its kNext. A link is
// used by one thread, the lane's; only wake() and abort() may be called from
// others.
// TlsLink (tls_link.h) is the real one; MemoryRing (memory_ring.h) joins three
// parties in one process for the simulator.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

enum class Neighbour : std::uint8_t { kPrev = 0, kNext = 1 };

inline constexpr std::size_t kMaxPacketBytes = 64u << 20;

inline std::size_t total_bytes(std::span<const ByteSpan> pieces) {
  std::size_t sum = 0;
  for (ByteSpan piece : pieces) sum += piece.size();
  return sum;
}

class Link {
 public:
  virtual ~Link() = default;

  // Sends one packet, given whole or in pieces, which need not stay afterwards.
  // Never waits for the peer: what the socket does not take now goes out during
  // later calls. Error: the link is down.
  virtual Result<void> send_pieces(Neighbour to, std::span<const ByteSpan> pieces) = 0;
  Result<void> send(Neighbour to, ByteSpan packet) { return send_pieces(to, {&packet, 1}); }

  // Waits for the next packet of `from` while also pumping output and the
  // other direction's input. The view stays valid until the next receive from
  // the same neighbour. Error: timeout, link down, or a packet longer than
  // kMaxPacketBytes. The time begins anew while a packet's octets arrive.
  virtual Result<ByteSpan> receive(Neighbour from, int timeout_ms) = 0;

  enum class Event : std::uint8_t { kPacket, kWake, kTimeout };

  // Waits until a packet from either neighbour can be received, wake() was
  // called, or the time is over.
  virtual Result<Event> wait(int timeout_ms) = 0;

  // Takes in what has arrived, without waiting. Error: a connection is lost, also where packets
  // that came before wait to be received.
  virtual Result<void> look() { return {}; }

  // Makes the current or next wait() return kWake. Thread-safe.
  virtual void wake() = 0;

  // Makes every call from now on fail for this reason, a receive() that is
  // waiting included. Thread-safe.
  virtual void abort(const std::string& reason) = 0;

  struct Counters {
    std::uint64_t packets_sent = 0;
    std::uint64_t packet_bytes_sent = 0;  // without TLS and TCP framing
  };
  virtual Counters counters() const = 0;

  // The fastest round trip of late to the neighbour that is farther away. 0 where nothing is known,
  // and in one process.
  virtual std::chrono::microseconds round_trip() const { return {}; }
};

}  // namespace tkdc
