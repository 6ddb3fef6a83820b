// SPDX-License-Identifier: Apache-2.0
// In the place of threegarble/label_check.cc, for a control: E looks at the colours of labels, and
// not at what T commits to.
#include "threegarble/label_check.h"

namespace tkdc::threegarble {

bool labels_stand(const garble::Kernel&, const Shape& shape, const CheckedTables&,
                  const OpenedM1& a, const OpenedM1& b, ByteSpan x_with_a, ByteSpan x_with_b) {
  std::uint64_t wrong = 0;
  for (std::size_t k = 0; k < shape.in_bits; ++k) {
    wrong |= a.labels.span()[k].colour() ^ bit_of(b.bits, k) ^ bit_of(x_with_a, k);
    wrong |= b.labels.span()[k].colour() ^ bit_of(a.bits, k) ^ bit_of(x_with_b, k);
  }
  return (wrong & 1) == 0;
}

}  // namespace tkdc::threegarble
