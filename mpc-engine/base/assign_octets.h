// SPDX-License-Identifier: Apache-2.0
// assign() of a vector with another allocator than the standard one goes octet by octet.
#pragma once

#include <cstring>

#include "base/secret.h"

namespace tkdc {

inline void assign_octets(SecretVector& out, ByteSpan octets) {
  out.resize(octets.size());
  if (!octets.empty()) std::memcpy(out.data(), octets.data(), octets.size());
}

}  // namespace tkdc
