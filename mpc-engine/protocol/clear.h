// SPDX-License-Identifier: Apache-2.0
// Units on values in the clear, by libcrypto: what every protocol is compared with.
#pragma once

#include "base/secret.h"
#include "protocol/unit.h"

namespace tkdc {

// Lengths as in protocol/unit.h.
SecretVector compute_clear(Unit unit, ByteSpan held, SecretVector data);

}  // namespace tkdc
