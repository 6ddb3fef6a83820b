// SPDX-License-Identifier: Apache-2.0
// The key that opens a server's store, as a file beside its configuration. Secret. Another one than
// the store's own, once that has been given keys (service/store/keyring.h).
#pragma once

#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

// Exactly 32 octets, which nobody else can read.
Result<SecretBuffer> read_store_key(const std::string& path);

}  // namespace tkdc
