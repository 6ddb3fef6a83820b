// SPDX-License-Identifier: Apache-2.0
#include "pair/input_check.h"

#include <algorithm>

#include "pair/label_check.h"
#include "pair/session.h"

namespace tkdc::pair {

bool mac_fits(const Label& expected, const Label& said) { return digests_equal(expected, said); }

bool is_unused(bool used) { return !used; }

bool one_delta(const Label& pool, const Label& other) { return Session::is_same(pool, other); }
bool stored_fits(std::uint8_t said) { return said == 1; }
std::uint64_t first_of(std::uint64_t own, std::uint64_t peers) { return std::max(own, peers); }

}  // namespace tkdc::pair
