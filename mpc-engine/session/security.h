// SPDX-License-Identifier: Apache-2.0
// What the parties of a protocol withstand.
#pragma once

#include <cstdint>

namespace tkdc {

// One party that is read, or one that does as it likes (docs/security.md). Equal at all parties.
enum class Security : std::uint8_t { kSemiHonest = 0, kMalicious = 1 };

constexpr const char* security_name(Security security) {
  return security == Security::kMalicious ? "malicious" : "semi-honest";
}

}  // namespace tkdc
