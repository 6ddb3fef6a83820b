// SPDX-License-Identifier: Apache-2.0
// Fills a reserve while a lane runs: the three servers begin each instance in the same tick, and
// put it on the shelf in the same tick, when all three have it.
//
// An octet to each neighbour in each tick meanwhile: not yet, made, a stream broke, a garbler
// deviates. None of it is merely told: each tick is an agreement (lane/lane.h) on which instance is
// made and on the three octets of the tick before. So it begins once the three have compared which
// one, and it is put or dropped once they have compared what they heard of each other. Whoever
// tells the two others different things is found before a job can take what only one of them has.
// Public.
#pragma once

#include "threegarble/maker.h"
#include "threegarble/side.h"

namespace tkdc::threegarble {

enum class Filled : std::uint8_t {
  kFull,    // nothing is lacking that fits
  kBroken,  // somebody's stream failed: nothing more is made in this session
};

// `stop` says that jobs want the lane for themselves: then it ends after the instance that it is
// at. All three say the same in the same tick. A deviation ends the lane, and nobody is resumed.
Task<Filled> fill(LaneSide& mine, Maker& maker, std::function<bool()> stop);

}  // namespace tkdc::threegarble
