// SPDX-License-Identifier: Apache-2.0
// AES cohorts bit-sliced: for CPUs without GFNI, and the layout that a GPU
// shares with them.
//
// A plane is one bit of one octet position of all blocks. A bit's 16 planes
// stand one after the other, ceil(blocks / 8) octets each, and a message is
// the planes of its bits in order. Cohorts of a multiple of 8 blocks therefore
// cost 18 bits per S-box exactly; others are filled up to one.
#pragma once

#include "rep3/unit/aes/cohort.h"

namespace tkdc {

const Rep3Backend& rep3_backend_planes();  // 64-bit words
const Rep3Backend* rep3_backend_avx2();    // 256-bit words; null when the CPU lacks it

}  // namespace tkdc
