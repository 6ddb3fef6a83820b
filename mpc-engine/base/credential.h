// SPDX-License-Identifier: Apache-2.0
// Secrets of a unit as systemd's encrypted credentials: NAME.cred in the member's folder, which
// only this host decrypts (its key, its TPM, or both), and which systemd gives to the unit in a
// folder of its own (LoadCredentialEncrypted=). systemd-creds encrypts and decrypts them, as root.
//
// Called by `tkdc`; the daemons only read what systemd gives them (base/secret_file.h). Secret:
// what is encrypted; it goes through pipes, never through arguments or files.
#pragma once

#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

inline constexpr std::string_view kCredentialEnding = ".cred";

// Whether this host's systemd can do it, and this process may ask.
bool can_make_credentials();

// `with`: auto, host, tpm2 or host+tpm2, as systemd-creds(1) has --with-key=. `name`: of the file
// in the unit's folder, which the credential is bound to.
Result<std::string> encrypt_credential(const std::string& name, ByteSpan secret,
                                       const std::string& with);
Result<SecretVector> decrypt_credential(const std::string& name, ByteSpan credential);
Result<SecretVector> decrypt_credential_file(const std::string& name, const std::string& path);

// What StrictToml::resolve() makes of %d/NAME where no unit gave a folder: NAME, else empty.
std::string credential_not_given(const std::string& path);

}  // namespace tkdc
