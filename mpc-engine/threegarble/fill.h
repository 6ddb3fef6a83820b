// SPDX-License-Identifier: Apache-2.0
// Fills a reserve while a lane runs: the three servers begin each instance in the same tick, and
// put it on the shelf in the same tick, when all three have it.
//
// An octet to each neighbour in each tick meanwhile: not yet, made, a stream broke, a garbler
// deviates. None of it is merely told: each tick is an agreement (lane/lane.h) on which instance is
// made and on the three octets of the tick before. So it begins once the three have compared which
// one, and it is put or dropped once they have compared what they heard of each other. Whoever
// tells the two others different things is found before a job can take what only one of them has.
// A session that goes on over new connections has new streams, and one server may take them up a
// tick before another. So the first tick says on which streams each is, and the instance is made
// where all three say the same. Public.
#pragma once

#include "threegarble/maker.h"
#include "threegarble/side.h"

namespace tkdc::threegarble {

enum class Filled : std::uint8_t {
  kFull,     // nothing is lacking that fits
  kBroken,   // somebody's stream failed: nothing more is made over these streams
  kRenewed,  // the same, and all three have others already
  kApart,    // the three are not on the same streams yet: nothing was made
};

struct FillOptions {
  // Jobs want the lane for themselves: it ends after the instance that it is at. All three say the
  // same in the same tick.
  std::function<bool()> stop;
  // Tasks of the lane that do nothing but wait for what is made.
  std::function<std::size_t()> waiting = [] { return std::size_t{0}; };
  // Of the maker's streams (LaneStreams::handshake); and whether others wait already. Each server's
  // own.
  std::uint8_t streams = 0;
  std::function<bool()> renewed;
};
// What comes of it is the same at all three. A deviation ends the lane, and nobody is resumed.
Task<Filled> fill(LaneSide& mine, Maker& maker, FillOptions options);

}  // namespace tkdc::threegarble
