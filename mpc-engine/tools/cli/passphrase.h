// SPDX-License-Identifier: Apache-2.0
// A passphrase from the terminal, unseen; or, without a terminal, the first line of stdin. A
// signal that ends the program does so after the terminal shows again what is typed.
#pragma once

#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc::cli {

inline constexpr std::size_t kMaxPassphraseBytes = 1024;

// Error: none was given, it is longer than the limit, or, on a terminal, it was cut short.
Result<SecretVector> read_passphrase(const std::string& prompt);

// Twice on a terminal. `prompt`: without a colon.
Result<SecretVector> read_new_passphrase(const std::string& prompt);

}  // namespace tkdc::cli
