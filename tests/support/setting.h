// SPDX-License-Identifier: Apache-2.0
// A number from the environment: `make deviations` takes more secrets than a unit test.
#pragma once

#include <cstdlib>

namespace tkdc::test {

inline std::size_t setting(const char* name, std::size_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : static_cast<std::size_t>(std::atoll(value));
}

}  // namespace tkdc::test
