// SPDX-License-Identifier: Apache-2.0
#ifndef TKDC_LUT_SIZES_H
#define TKDC_LUT_SIZES_H

#include <cstddef>

namespace tkdc::lut {

constexpr std::size_t kOctetBits = 8;
constexpr std::size_t kProductsAtOnce = 20'480;  // that are checked and permuted together
constexpr std::size_t kEntriesAhead = 12;        // that are fetched before they are needed

}  // namespace tkdc::lut

#endif
