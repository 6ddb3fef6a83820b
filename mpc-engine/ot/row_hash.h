// SPDX-License-Identifier: Apache-2.0
// The hash of rows. A changed receiver of an extension draws its trees' roots until its rows M have
// differences that it wants, so this is a hash for chosen inputs: π(π(x) ⊕ i) ⊕ π(x) (Guo, Katz,
// Wang, Yu 2020, section 7.4). With garbling's H two hidden points would have a known sum, and give
// Δ away. A file of its own: the control of that attack replaces it
// (tests/unit/pair/sigma_rows.cc).
//
// Thread-safe, no state. Secret: rows and what comes of them. Nothing here fails.
#pragma once

#include "garble/kernel.h"

namespace tkdc::ot {

// out[k] = hash of rows[k] under number first + k. `out` may be `rows`.
void hash_rows(const garble::Kernel& kernel, const garble::RoundKeys& keys, std::uint64_t first,
               std::span<const garble::Label> rows, garble::Label* out);

}  // namespace tkdc::ot
