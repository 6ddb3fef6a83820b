// SPDX-License-Identifier: Apache-2.0
// One tick of a lane on a real link: a packet to each neighbour, a packet from
// each. What protocols send stands in Rep3; `control` is what the lane itself
// has to say (admission), and travels only in full ticks.
//
//   to prev:  tick u32 | control (full ticks) | layers, digest, exchange
//   to next:  tick u32 | control | openings, exchange   (full ticks only)
//   control:  length u32 | what is for both u32 length, octets | what is for this one
//             the length is 0 where there is nothing to say
//
// Both sides know which ticks are full: whenever openings are due or the lane's
// owner says so.
//
// What a party says to both others is a decision that all three take alike: the ticker notes it
// in the lane's course, all three parties' together, before the owner reads it. So nothing that
// is said to both can be used and not be compared (rep3/course.h). What is said to one
// neighbour is between those two: digests of what both hold.
#pragma once

#include <array>
#include <optional>

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

  struct OwnControl {
    Bytes to_both, to_prev, to_next;
  };
  // What a neighbour said; empty in ticks that are not full. Valid until the next tick.
  struct Said {
    ByteSpan to_both, to_me;
  };
  struct Control {
    Said prev, next;
  };
  Result<Control> tick(bool full, const OwnControl& own, int timeout_ms = kReceiveTimeoutMs);
  // Whose packet the tick that failed lacks, or who took none.
  std::optional<Neighbour> lost() const { return lost_; }

 private:
  Result<ByteSpan> receive(Neighbour from, int timeout_ms);
  Result<void> send(bool full, const OwnControl& own);
  Result<Control> try_tick(bool full, const OwnControl& own, int timeout_ms);
  void hear_what_came();
  void note(const OwnControl& own, const Control& heard);

  Rep3& rep3_;
  Link& link_;
  std::uint32_t number_ = 0;
  std::optional<Neighbour> lost_;
  std::array<std::optional<ByteSpan>, 2> heard_;  // in this tick, by Neighbour
  Bytes head_;
  SecretVector to_next_;
};

}  // namespace tkdc
