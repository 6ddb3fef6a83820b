// SPDX-License-Identifier: Apache-2.0
// Key files. A secret is read only from a regular file that belongs to this
// user (or root) and that nobody else can read: one that was readable must be
// taken as known to others.
#pragma once

#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

inline constexpr const char* kReplaceable =
    "chmod 0600; replace the key if somebody may have read it";

// At most `max_bytes`. Error: names the file; `advice`: what to do about one that others can read.
Result<SecretVector> read_secret_file(const std::string& path, std::size_t max_bytes,
                                      const char* advice = kReplaceable);

// Not secret: a certificate.
Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes);

// A CURVE secret key: 40 characters of Z85, white space around it allowed.
Result<SecretVector> read_curve_secret(const std::string& path);

}  // namespace tkdc
