// SPDX-License-Identifier: Apache-2.0
// What a check multiplies by: from coins that were tossed when all that it checks was there, by AES
// in counter mode. Public.
#pragma once

#include "garble/kernel.h"
#include "lut/label.h"

namespace tkdc::lut {

class Coefficients {
 public:
  explicit Coefficients(const Label& coins) { garble::expand_keys(std::span(&coins, 1), keys_); }
  void draw(std::span<Label> out) {
    for (Label& one : out) one = {next_++, 0};
    garble::fastest_kernel().permute(keys_, out);
  }

 private:
  garble::RoundKeys keys_;
  std::uint64_t next_ = 0;
};

}  // namespace tkdc::lut
