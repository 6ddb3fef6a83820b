// SPDX-License-Identifier: Apache-2.0
#include "pair/input_check.h"

#include "pair/label_check.h"

namespace tkdc::pair {

bool mac_fits(const Label& expected, const Label& said) { return digests_equal(expected, said); }

bool is_unused(bool used) { return !used; }

}  // namespace tkdc::pair
