// SPDX-License-Identifier: Apache-2.0
// What a check of openings compares (dealer.h): the digest of all τ since the last one.
//
// A file of its own: the controls of what it prevents replace it
// (tests/unit/lut/unchecked_openings.cc).
#pragma once

#include "lut/label.h"
#include "pair/bits.h"

namespace tkdc::lut {

pair::Digest digest_of_openings(const Label& sum);

}  // namespace tkdc::lut
