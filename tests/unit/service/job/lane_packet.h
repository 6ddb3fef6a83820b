// SPDX-License-Identifier: Apache-2.0
// A lane's packet taken apart (lane/ticker.h), for tests whose rings change what a server says.
#pragma once

#include "link/link.h"
#include "service/job/lane_control.h"

namespace tkdc::test {

struct LanePacket {
  std::uint32_t tick = 0;
  Bytes to_both, to_one;
  SecretVector rest;
};

// Of a full tick. Nothing where the octets cannot be one.
inline std::optional<LanePacket> parse_packet(ByteSpan octets) {
  Reader in(octets);
  LanePacket packet;
  packet.tick = in.u32();
  Reader control(in.bytes(1u << 20));
  if (in.failed()) return std::nullopt;
  if (control.remaining() > 0) {
    const ByteSpan both = control.bytes(1u << 20);
    const ByteSpan one = control.raw(control.remaining());
    if (control.failed()) return std::nullopt;
    packet.to_both.assign(both.begin(), both.end());
    packet.to_one.assign(one.begin(), one.end());
  }
  const ByteSpan rest = in.raw(in.remaining());
  packet.rest.assign(rest.begin(), rest.end());
  return packet;
}

inline SecretVector encode(const LanePacket& packet) {
  SecretVector out;
  SecretWriter w(out);
  w.u32(packet.tick);
  if (packet.to_both.empty() && packet.to_one.empty()) {
    w.u32(0);
  } else {
    w.u32(static_cast<std::uint32_t>(4 + packet.to_both.size() + packet.to_one.size()));
    w.bytes(packet.to_both);
    w.raw(packet.to_one);
  }
  w.raw(packet.rest);
  return out;
}

// What a party said to both others, however many verdicts are due. Nothing where it said nothing,
// or where the packet is none of a full tick.
inline std::optional<LaneControl> said_in(const LanePacket& packet) {
  constexpr std::size_t kMost = 256;
  if (packet.to_both.empty()) return std::nullopt;
  for (std::size_t verdicts = 0; verdicts <= kMost; ++verdicts) {
    auto said = decode_lane_control(packet.to_both, {true, verdicts, kMost, 1, true});
    if (said) return std::move(*said);
  }
  return std::nullopt;
}

inline std::optional<LaneControl> manifest_in(ByteSpan octets) {
  auto packet = parse_packet(octets);
  auto said = packet ? said_in(*packet) : std::nullopt;
  if (!said || !said->manifest) return std::nullopt;
  return said;
}

// The same packet, in which something else is said.
inline SecretVector with(ByteSpan octets, const LaneControl& said) {
  auto packet = *parse_packet(octets);
  packet.to_both = tkdc::encode(said);
  return encode(packet);
}

}  // namespace tkdc::test
