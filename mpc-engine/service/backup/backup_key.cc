// SPDX-License-Identifier: Apache-2.0
#include "service/backup/backup_key.h"

#include <algorithm>
#include <string_view>

#include "base/hex.h"
#include "base/secret_file.h"

namespace tkdc {
namespace {

constexpr std::string_view kPublicTitle = "tkdc backup public key 1\n";
constexpr std::string_view kSecretTitle = "tkdc backup secret key 1\n";
constexpr std::size_t kMostKeyFileBytes = 256;

// What stands between the title and the end of the line; empty where that is not so.
std::string_view digits_in(std::string_view file, std::string_view title) {
  if (!file.starts_with(title) || !file.ends_with('\n')) return {};
  file.remove_prefix(title.size());
  file.remove_suffix(1);
  return file;
}

// A hexadecimal one. No table, and no branch: where it looks must not depend on the secret.
std::uint8_t digit(unsigned nibble) {
  constexpr unsigned kToLetters = 'a' - '0' - 10;
  return static_cast<std::uint8_t>('0' + nibble + (((9 - nibble) >> 8) & kToLetters));
}

}  // namespace

SecretBuffer draw_backup_key() {
  SecretBuffer secret(kBackupKeyBytes);
  randombytes_buf(secret.data(), secret.size());
  return secret;
}

BackupPublicKey backup_public_key(const SecretBuffer& secret) {
  BackupPublicKey out{};
  crypto_scalarmult_base(out.data(), secret.data());
  return out;
}

std::string encode_backup_public_key(const BackupPublicKey& key) {
  return std::string(kPublicTitle) + to_hex(key) + "\n";
}

// Not through std::string, which is not wiped.
SecretVector encode_backup_secret_key(const SecretBuffer& secret) {
  SecretVector out;
  out.reserve(kMostKeyFileBytes);
  out.assign(kSecretTitle.begin(), kSecretTitle.end());
  for (std::uint8_t octet : secret.span()) {
    out.push_back(digit(octet >> 4));
    out.push_back(digit(octet & 15));
  }
  out.push_back('\n');
  return out;
}

Result<BackupPublicKey> read_backup_public_key(const std::string& path) {
  auto text = read_text_file(path, kMostKeyFileBytes);
  if (!text.ok()) return text.error();
  BackupPublicKey out{};
  if (!from_hex(digits_in(*text, kPublicTitle), out))
    return fail(path + ": not the public half of a key as `tkdc backup key` makes it");
  return out;
}

Result<SecretBuffer> read_backup_secret_key(const std::string& path) {
  auto octets = read_secret_file(path, kMostKeyFileBytes);
  if (!octets.ok()) return octets.error();
  const std::string_view text(reinterpret_cast<const char*>(octets->data()), octets->size());
  SecretBuffer out(kBackupKeyBytes);
  if (!from_hex(digits_in(text, kSecretTitle), out.span()))
    return fail(path + ": not the secret half of a key as `tkdc backup key` makes it");
  return out;
}

}  // namespace tkdc
