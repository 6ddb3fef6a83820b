// SPDX-License-Identifier: Apache-2.0
#include "service/export/approver_key.h"

#include <algorithm>
#include <string_view>

namespace tkdc {
namespace {

constexpr std::string_view kKeyTitle = "tkdc approver key 1\n";
constexpr std::size_t kSaltBytes = crypto_pwhash_argon2id_SALTBYTES;
constexpr std::size_t kKeyNonceBytes = crypto_secretbox_NONCEBYTES;
constexpr std::size_t kKeyHeaderBytes = kKeyTitle.size() + kSaltBytes + kKeyNonceBytes;
constexpr std::size_t kSeedBytes = crypto_sign_SEEDBYTES;
constexpr std::size_t kFileBytes = kKeyHeaderBytes + crypto_secretbox_MACBYTES + kSeedBytes;
// A part of a second and 128 MiB for each guess.
constexpr unsigned long long kPasses = 3;
constexpr std::size_t kMemoryBytes = std::size_t{128} << 20;

Result<SecretBuffer> key_of(ByteSpan passphrase, const std::uint8_t* salt) {
  SecretBuffer key(crypto_secretbox_KEYBYTES);
  if (crypto_pwhash_argon2id(key.data(), key.size(),
                             reinterpret_cast<const char*>(passphrase.data()), passphrase.size(),
                             salt, kPasses, kMemoryBytes,
                             crypto_pwhash_argon2id_ALG_ARGON2ID13) != 0)
    return fail("128 MiB of memory are needed to open an approver's key");
  return key;
}

}  // namespace

SecretBuffer draw_approver_seed() {
  SecretBuffer seed(kSeedBytes);
  randombytes_buf(seed.data(), seed.size());
  return seed;
}

ApproverKey approver_public_key(const SecretBuffer& seed) {
  ApproverKey out;
  SecretBuffer secret(crypto_sign_SECRETKEYBYTES);
  crypto_sign_seed_keypair(out.data(), secret.data(), seed.data());
  return out;
}

Result<Bytes> lock_approver_seed(const SecretBuffer& seed, ByteSpan passphrase) {
  Bytes out(kFileBytes);
  std::ranges::copy(kKeyTitle, out.begin());
  std::uint8_t* const salt = out.data() + kKeyTitle.size();
  std::uint8_t* const nonce = salt + kSaltBytes;
  randombytes_buf(salt, kSaltBytes + kKeyNonceBytes);
  auto key = key_of(passphrase, salt);
  if (!key) return key.error();
  crypto_secretbox_easy(out.data() + kKeyHeaderBytes, seed.data(), seed.size(), nonce, key->data());
  return out;
}

Result<SecretBuffer> unlock_approver_seed(ByteSpan file, ByteSpan passphrase) {
  if (file.size() != kFileBytes || !std::equal(kKeyTitle.begin(), kKeyTitle.end(), file.begin()))
    return fail("not a key as `tkdc approver` makes it");
  const std::uint8_t* const salt = file.data() + kKeyTitle.size();
  auto key = key_of(passphrase, salt);
  if (!key) return key.error();
  SecretBuffer seed(kSeedBytes);
  if (crypto_secretbox_open_easy(seed.data(), file.data() + kKeyHeaderBytes,
                                 file.size() - kKeyHeaderBytes, salt + kSaltBytes,
                                 key->data()) != 0)
    return fail("not the passphrase of this key, or the file is damaged");
  return seed;
}

}  // namespace tkdc
