// SPDX-License-Identifier: Apache-2.0
// In place of lut/opening_check.cc: parties that believe each opening.
#include "lut/opening_check.h"

namespace tkdc::lut {

pair::Digest digest_of_openings(const Label&) { return {}; }

}  // namespace tkdc::lut
