// SPDX-License-Identifier: Apache-2.0
#include "garble/kernel.h"

#include <string>
#include <vector>

namespace tkdc::garble {
namespace {

std::vector<const Kernel*> usable_kernels() {
  std::vector<const Kernel*> usable;
  for (const Kernel* kernel : {kernel_vaes512(), kernel_aesni(), kernel_reference()})
    if (kernel != nullptr) usable.push_back(kernel);
  return usable;
}

}  // namespace

std::span<const Kernel* const> kernels() {
  static const std::vector<const Kernel*> usable = usable_kernels();
  return usable;
}

Result<const Kernel*> find_kernel(std::string_view name) {
  if (name == "auto") return &fastest_kernel();
  std::string there;
  for (const Kernel* kernel : kernels()) {
    if (kernel->name == name) return kernel;
    there += there.empty() ? "" : ", ";
    there += kernel->name;
  }
  return fail("garbling: this CPU has no kernel '" + std::string(name) + "'; it has " + there);
}

}  // namespace tkdc::garble
