// SPDX-License-Identifier: Apache-2.0
// An administrator's key for backups: an X25519 pair. The public half lies beside the server's
// configuration and encrypts; the secret half opens, and no server ever has it.
//
//   "tkdc backup public key 1\n" | 64 hexadecimal digits | "\n"
//   "tkdc backup secret key 1\n" | 64 hexadecimal digits | "\n"
//
// Secret: the latter.
#pragma once

#include <array>
#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

inline constexpr std::size_t kBackupKeyBytes = crypto_box_PUBLICKEYBYTES;
using BackupPublicKey = std::array<std::uint8_t, kBackupKeyBytes>;
static_assert(crypto_box_SECRETKEYBYTES == kBackupKeyBytes);

SecretBuffer draw_backup_key();
BackupPublicKey backup_public_key(const SecretBuffer& secret);

std::string encode_backup_public_key(const BackupPublicKey& key);
SecretVector encode_backup_secret_key(const SecretBuffer& secret);

// Error: it cannot be read, or is no such file; of a secret one also: others can read it.
Result<BackupPublicKey> read_backup_public_key(const std::string& path);
Result<SecretBuffer> read_backup_secret_key(const std::string& path);

}  // namespace tkdc
