// SPDX-License-Identifier: Apache-2.0
// In place of pair/label_check.cc: parties that believe what the other one says of labels, as the
// published protocol does.
#include "pair/label_check.h"

namespace tkdc::pair {

bool labels_fit(const garble::Label&, const garble::Label&) { return true; }
bool colours_fit(std::span<const garble::Label>, std::span<const std::uint8_t>) { return true; }

}  // namespace tkdc::pair
