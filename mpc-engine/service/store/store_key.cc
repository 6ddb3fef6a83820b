// SPDX-License-Identifier: Apache-2.0
#include "service/store/store_key.h"

#include <cstring>

#include "base/secret_file.h"
#include "service/store/keyring.h"

namespace tkdc {
namespace {

// Replaced, it would take this server's shares along.
constexpr const char kAdvice[] =
    "chmod 0600; do not replace it, the store would be unreadable; if somebody may have read it "
    "and the store, see docs/operations.md, Changing keys";

}  // namespace

Result<SecretBuffer> read_store_key(const std::string& path) {
  auto octets = read_secret_file(path, kStoreKeyBytes, kAdvice);
  if (!octets.ok()) return octets.error();
  if (octets->size() != kStoreKeyBytes)
    return fail("config: " + path + " must have exactly 32 octets");
  SecretBuffer key(kStoreKeyBytes);
  std::memcpy(key.data(), octets->data(), kStoreKeyBytes);
  return key;
}

}  // namespace tkdc
