// SPDX-License-Identifier: Apache-2.0
// The digest of a schedule: whether two parties garble the same gates in the same order. Public.
#pragma once

#include <sodium.h>

#include <array>

#include "circuit/schedule.h"

namespace tkdc::circuit {

using ScheduleDigest = std::array<std::uint8_t, 32>;

// Of numbers in their order: eight octets each, the lowest first, on every machine.
class NumbersDigest {
 public:
  NumbersDigest();
  void add(std::uint64_t number);
  ScheduleDigest end();

 private:
  crypto_generichash_state state_;
};

// Of everything that decides what is garbled, in which order; not of names.
ScheduleDigest digest_of(const Schedule& schedule);

}  // namespace tkdc::circuit
