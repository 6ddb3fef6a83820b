// SPDX-License-Identifier: Apache-2.0
#include "ot/kernel.h"

#include <string>

namespace tkdc::ot {
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
    there += (there.empty() ? "" : ", ") + std::string(kernel->name);
  }
  return fail("OT: this CPU has no kernel '" + std::string(name) + "'; it has " + there);
}

}  // namespace tkdc::ot
