// SPDX-License-Identifier: Apache-2.0
// Fills a reserve while a lane runs: the three servers begin each instance in the same tick, and
// put it on the shelf in the same tick, when all three have it.
//
// An octet to each neighbour in each tick meanwhile: not yet, made, a stream broke, a garbler
// deviates. Public.
#pragma once

#include "threegarble/maker.h"
#include "threegarble/reserve.h"

namespace tkdc::threegarble {

enum class Filled : std::uint8_t {
  kFull,    // nothing is lacking that fits
  kBroken,  // somebody's stream failed: nothing more is made in this session
};

// `stop` says that jobs want the lane for themselves: then it ends after the instance that it is
// at. All three say the same in the same tick. A deviation ends the lane, and nobody is resumed.
Task<Filled> fill(Lane& lane, Reserve& reserve, Maker& maker, std::function<bool()> stop);

}  // namespace tkdc::threegarble
