// SPDX-License-Identifier: Apache-2.0
#include "ot/row_hash.h"

namespace tkdc::ot {

void hash_rows(const garble::Kernel& kernel, const garble::RoundKeys& keys, std::uint64_t first,
               std::span<const garble::Label> rows, garble::Label* out) {
  kernel.hash_chosen(keys, first, rows, out);
}

}  // namespace tkdc::ot
