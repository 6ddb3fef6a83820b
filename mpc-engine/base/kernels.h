// SPDX-License-Identifier: Apache-2.0
// Implementations of one interface of which a machine has some, each with a `name`: which it has,
// and which one a person means. Nothing here is secret.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tkdc {

// `all`: the fastest first, null where this machine lacks one.
template <class Kernel>
std::vector<const Kernel*> usable_kernels(std::initializer_list<const Kernel*> all) {
  std::vector<const Kernel*> usable;
  for (const Kernel* kernel : all)
    if (kernel != nullptr) usable.push_back(kernel);
  return usable;
}

// By name; "auto" is the first. Error: names those that there are.
template <class Kernel>
Result<const Kernel*> find_kernel(std::span<const Kernel* const> usable, std::string_view name,
                                  const std::string& what) {
  if (name == "auto") return usable.front();
  std::string there;
  for (const Kernel* kernel : usable) {
    if (kernel->name == name) return kernel;
    there += (there.empty() ? "" : ", ") + std::string(kernel->name);
  }
  return fail(what + ": this CPU has no kernel '" + std::string(name) + "'; it has " + there);
}

}  // namespace tkdc
