// SPDX-License-Identifier: Apache-2.0
// What tests of job services ask for, of whose keys, and in which installation.
#pragma once

#include <sodium.h>

#include <string>

#include "service/wire/message.h"
#include "service/wire/role.h"

namespace tkdc {

inline constexpr InstallationId kInstallation = {0x7d, 1, 2, 3};

inline PrincipalDigest digest_of(const std::string& name) {
  PrincipalDigest digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const std::uint8_t*>(name.data()),
                     name.size());
  return digest;
}

inline KeyRef new_key(std::uint32_t enctype) {
  KeyRef ref;
  ref.installation = kInstallation;
  randombytes_buf(ref.id.data(), ref.id.size());
  ref.kvno = 1;
  ref.enctype = enctype;
  return ref;
}

// What an agent asks for.
struct AskedJob {
  tkdc_wire_op op;
  KeyRef key;
  std::uint32_t usage = 0;
  Bytes opened;
  Bytes input;
  AgentRole role = AgentRole::kKdc;
};

}  // namespace tkdc
