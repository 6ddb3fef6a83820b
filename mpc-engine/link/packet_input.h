// SPDX-License-Identifier: Apache-2.0
// Packets out of a stream of octets: u32 length (big-endian), octets.
//
// Whoever reads the stream asks for room, fills some of it and says how much.
// Memory grows with what arrives, not with what a header announces. Used by
// TlsStream and its thread. Secret: the packets, in memory that is wiped.
#pragma once

#include <deque>
#include <vector>

#include "base/result.h"
#include "link/link.h"

namespace tkdc {

class PacketInput {
 public:
  static constexpr std::size_t kHeaderBytes = sizeof(std::uint32_t);
  // A header, for a packet of so many octets, and what one announces.
  static void put_header(std::uint8_t* header, std::size_t bytes) {
    for (std::size_t i = 0; i < kHeaderBytes; ++i)
      header[i] = static_cast<std::uint8_t>(bytes >> 8 * (kHeaderBytes - 1 - i));
  }
  static std::size_t get_header(const std::uint8_t* header) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < kHeaderBytes; ++i) bytes = bytes << 8 | header[i];
    return bytes;
  }

  void set_max_packet_bytes(std::size_t bytes) { max_packet_bytes_ = bytes; }
  // Of packets that have not been taken, before full() says so.
  void set_max_waiting_bytes(std::size_t bytes) { max_ready_bytes_ = bytes; }

  // Where the next octets go; never empty. Valid until filled().
  MutableByteSpan room();
  // The first `bytes` of room(), at least one, are there; true when they complete a packet.
  // Error, and nothing more may be read: a packet above the limit.
  Result<bool> filled(std::size_t bytes);

  // Whether so much waits that nothing should be read before a take().
  bool full() const;
  bool has_packet() const { return !ready_.empty(); }
  // The oldest packet; valid until the next take(). Requires has_packet().
  ByteSpan take();

 private:
  struct Packet {
    SecretVector memory;
    std::size_t bytes = 0;
  };

  Result<void> begin_packet();
  void end_packet();

  std::size_t max_packet_bytes_ = kMaxPacketBytes;
  std::size_t max_ready_bytes_ = std::size_t{160} << 20;
  std::uint8_t header_[kHeaderBytes]{};
  std::size_t header_got_ = 0;
  std::size_t body_got_ = 0;
  Packet incoming_;
  std::deque<Packet> ready_;
  std::size_t ready_bytes_ = 0;
  Packet taken_;
  std::vector<SecretVector> spare_;  // memory of packets that are done with
};

}  // namespace tkdc
