// SPDX-License-Identifier: Apache-2.0
// In place of ot/row_hash.cc: garbling's hash for rows, whose hidden points a party that chooses
// its rows can make cancel.
#include "ot/row_hash.h"

namespace tkdc::ot {

void hash_rows(const garble::Kernel& kernel, const garble::RoundKeys& keys, std::uint64_t first,
               std::span<const garble::Label> rows, garble::Label* out) {
  kernel.hash(keys, first, rows, out);
}

}  // namespace tkdc::ot
