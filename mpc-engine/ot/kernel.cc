// SPDX-License-Identifier: Apache-2.0
#include "ot/kernel.h"

#include <vector>

#include "base/kernels.h"

namespace tkdc::ot {

std::span<const Kernel* const> kernels() {
  static const std::vector<const Kernel*> usable =
      usable_kernels({kernel_vaes512(), kernel_aesni(), kernel_reference()});
  return usable;
}

Result<const Kernel*> find_kernel(std::string_view name) {
  return tkdc::find_kernel(kernels(), name, "OT");
}

}  // namespace tkdc::ot
