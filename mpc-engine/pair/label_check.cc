// SPDX-License-Identifier: Apache-2.0
#include "pair/label_check.h"

#include <sodium.h>

#include "base/now_public.h"

namespace tkdc::pair {

bool labels_fit(const garble::Label& own, const garble::Label& said) {
  const garble::Label differ = own ^ said;
  now_public(&differ, sizeof differ);
  return sodium_is_zero(reinterpret_cast<const unsigned char*>(&differ), sizeof differ) == 1;
}

}  // namespace tkdc::pair
