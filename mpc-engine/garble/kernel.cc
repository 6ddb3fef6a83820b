// SPDX-License-Identifier: Apache-2.0
#include "garble/kernel.h"

#include <vector>

#include "base/kernels.h"

namespace tkdc::garble {

std::span<const Kernel* const> kernels() {
  static const std::vector<const Kernel*> usable =
      usable_kernels({kernel_vaes512(), kernel_aesni(), kernel_reference()});
  return usable;
}

Result<const Kernel*> find_kernel(std::string_view name) {
  return tkdc::find_kernel(kernels(), name, "garbling");
}

}  // namespace tkdc::garble
