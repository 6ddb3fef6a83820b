// SPDX-License-Identifier: Apache-2.0
// Packets on their way: each arrives a fixed time after it was sent, in order, as on a long
// line that is wide enough for all. What does not fit into the line's memory is lost, as in a
// router.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>

#include "storm/der.h"
#include "storm/schedule.h"

namespace tkdc::storm {

struct Packet {
  Nanoseconds due = 0;
  std::size_t node = 0;  // where it goes
  Bytes octets;
};

class DelayLine {
 public:
  explicit DelayLine(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // From now on. Packets that are on their way arrive when they were meant to, and none
  // overtakes another.
  void set_delay(Nanoseconds delay) { delay_ = delay; }

  // False when it is lost.
  bool push(Nanoseconds now, std::size_t node, ByteSpan octets) {
    if (bytes_ + octets.size() > max_bytes_) {
      ++lost_;
      return false;
    }
    last_due_ = std::max(last_due_, now + delay_);
    bytes_ += octets.size();
    on_way_.push_back({last_due_, node, Bytes(octets.begin(), octets.end())});
    return true;
  }

  // The next packet that has arrived.
  std::optional<Packet> pop(Nanoseconds now) {
    if (on_way_.empty() || on_way_.front().due > now) return std::nullopt;
    Packet packet = std::move(on_way_.front());
    on_way_.pop_front();
    bytes_ -= packet.octets.size();
    return packet;
  }

  std::optional<Nanoseconds> next() const {
    if (on_way_.empty()) return std::nullopt;
    return on_way_.front().due;
  }
  std::uint64_t lost() const { return lost_; }

 private:
  const std::size_t max_bytes_;
  std::deque<Packet> on_way_;
  std::size_t bytes_ = 0;
  Nanoseconds delay_ = 0, last_due_ = 0;
  std::uint64_t lost_ = 0;
};

// Node k of the network has the address 10.99.0.(k+1).
inline constexpr std::uint8_t kWanPrefix[3] = {10, 99, 0};

// Where an IPv4 packet goes; nothing when it is none, or goes to no node.
inline std::optional<std::size_t> wan_destination(ByteSpan packet, std::size_t nodes) {
  constexpr std::size_t kHeader = 20, kDestination = 16;
  if (packet.size() < kHeader || packet[0] >> 4 != 4) return std::nullopt;
  for (std::size_t k = 0; k < std::size(kWanPrefix); ++k)
    if (packet[kDestination + k] != kWanPrefix[k]) return std::nullopt;
  const std::size_t last = packet[kDestination + 3];
  if (last == 0 || last > nodes) return std::nullopt;
  return last - 1;
}

}  // namespace tkdc::storm
