// SPDX-License-Identifier: Apache-2.0
// Inner products over GF(2^128) by replicated sharing: several pairs in one layer, 16 message
// octets for each pair.
#pragma once

#include "protocol/protocol.h"
#include "rep3/rep3.h"

namespace tkdc {

Task<SharedBytes> gf128_inner_products(Rep3& rep3, std::vector<InnerProduct> pairs);

}  // namespace tkdc
