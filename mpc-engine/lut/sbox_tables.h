// SPDX-License-Identifier: Apache-2.0
// What AES's S-boxes of one way are looked up in. One thread. Secret: what it has. Error: the
// session's; not enough tables, before a word is said.
#pragma once

#include "lut/dealer.h"

namespace tkdc::lut {

enum class SboxWay : std::uint8_t { kForward, kInverse };

class SboxTables {
 public:
  virtual SboxWay way() const = 0;
  // Whether so many lookups can be done in this session. Error: as look_up()'s, before a word.
  virtual Result<void> fits(const pair::Session& session, std::size_t count) const = 0;
  // Replaces octets by their S-box's. What has been opened is to be checked before anything is put
  // out (dealer.h).
  virtual Result<void> look_up(Dealer& dealer, std::span<Label> octets) = 0;

 protected:
  ~SboxTables() = default;
};

}  // namespace tkdc::lut
