// SPDX-License-Identifier: Apache-2.0
// An octet from each of the three servers in one tick: how far it is with what they do together.
//
// None of it is merely told: the tick is an agreement (lane/lane.h) on what it is about and on the
// three octets of the tick before. So whoever tells the two others different things is found one
// tick later, before anything is done that only one of them expects. Public.
#pragma once

#include <algorithm>
#include <array>

#include "lane/lane.h"

namespace tkdc::threegarble {

class ThreeWords {
 public:
  // `about`: which thing is done, the same at all three.
  ThreeWords(Lane& lane, Bytes about) : lane_(lane), about_(std::move(about)) {}

  // One tick. A deviation ends the lane, and nobody is resumed.
  Task<void> say(std::uint8_t mine);
  bool any(std::uint8_t word) const { return std::ranges::count(words_, word) > 0; }
  bool above(std::uint8_t word) const { return std::ranges::max(words_) > word; }
  bool all(std::uint8_t word) const { return std::ranges::count(words_, word) == 3; }

 private:
  static constexpr std::uint8_t kNothing = 0xff;  // before the first tick

  Lane& lane_;
  const Bytes about_;
  std::array<std::uint8_t, 3> words_{kNothing, kNothing, kNothing};  // by party
};

}  // namespace tkdc::threegarble
