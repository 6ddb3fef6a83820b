// SPDX-License-Identifier: Apache-2.0
// In place of pair/input_check.cc: parties that believe what the other one says of its inputs, and
// that use a number again when they are told to.
#include <algorithm>

#include "pair/input_check.h"

namespace tkdc::pair {

bool mac_fits(const Label&, const Label&) { return true; }
bool is_unused(bool) { return true; }
bool one_delta(const Label&, const Label&) { return true; }
bool stored_fits(std::uint8_t) { return true; }
std::uint64_t first_of(std::uint64_t own, std::uint64_t peers) { return std::min(own, peers); }

}  // namespace tkdc::pair
