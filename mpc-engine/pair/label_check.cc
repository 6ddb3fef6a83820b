// SPDX-License-Identifier: Apache-2.0
#include "pair/label_check.h"

#include <algorithm>

namespace tkdc::pair {

bool labels_fit(const garble::Label& own, const garble::Label& said) {
  return digests_equal(own, said);
}

bool colours_fit(std::span<const garble::Label> labels, std::span<const std::uint8_t> values) {
  std::uint64_t differ = labels.size() ^ values.size();
  for (std::size_t k = 0; k < std::min(labels.size(), values.size()); ++k)
    differ |= labels[k].colour() ^ values[k];
  now_public(&differ, sizeof differ);
  return differ == 0;
}

}  // namespace tkdc::pair
