// SPDX-License-Identifier: Apache-2.0
// One tick of a lane on a real link: a packet to each neighbour, a packet from
// each. What protocols send stands in Rep3; `control` is what the lane itself
// has to say (admission), and travels only in full ticks.
//
//   to prev:  tick u32 | control bytes (full ticks) | layers, digest, exchange
//   to next:  tick u32 | control bytes | openings, exchange   (full ticks only)
//
// Both sides know which ticks are full: whenever openings are due or the lane's
// owner says so.
#pragma once

#include "base/codec.h"
#include "net/link.h"
#include "rep3/rep3.h"

namespace tkdc {

class Ticker {
 public:
  static constexpr int kReceiveTimeoutMs = 5'000;
  // While a key is made or removed, which waits for three disks. A neighbour that is gone is
  // noticed earlier, by TCP.
  static constexpr int kDiskTimeoutMs = 30'000;
  static constexpr std::size_t kMaxControlBytes = 1u << 20;

  Ticker(Rep3& rep3, Link& link) : rep3_(rep3), link_(link) {}

  // Control octets of both neighbours; empty in ticks that are not full. They
  // stay valid until the next tick.
  struct Control {
    ByteSpan from_prev, from_next;
  };
  struct OwnControl {
    Bytes to_prev, to_next;
  };
  Result<Control> tick(bool full, const OwnControl& own, int timeout_ms = kReceiveTimeoutMs);

 private:
  Result<ByteSpan> receive(Neighbour from, int timeout_ms);

  Rep3& rep3_;
  Link& link_;
  std::uint32_t number_ = 0;
  Bytes head_;
  SecretVector to_next_;
};

}  // namespace tkdc
