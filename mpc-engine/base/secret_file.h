// SPDX-License-Identifier: Apache-2.0
// Key files. A secret is read only from a regular file that belongs to this
// user (or root) and that nobody else can read: one that was readable must be
// taken as known to others.
#pragma once

#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

// At most `max_bytes`. Error: names the file and the chmod that helps.
Result<SecretVector> read_secret_file(const std::string& path, std::size_t max_bytes);

// Not secret: a certificate.
Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes);

// A CURVE secret key: 40 characters of Z85, white space around it allowed.
Result<SecretVector> read_curve_secret(const std::string& path);

// The store key: exactly 32 octets.
Result<SecretBuffer> read_store_key(const std::string& path);

}  // namespace tkdc
