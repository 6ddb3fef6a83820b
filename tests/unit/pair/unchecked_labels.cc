// SPDX-License-Identifier: Apache-2.0
// In place of pair/label_check.cc: a garbler that believes what an evaluator says, as the published
// protocol does.
#include "pair/label_check.h"

namespace tkdc::pair {

bool labels_fit(const garble::Label&, const garble::Label&) { return true; }

}  // namespace tkdc::pair
