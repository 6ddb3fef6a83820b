// SPDX-License-Identifier: Apache-2.0
#include "service/export/derived_key.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <memory>

#include "base/codec.h"
#include "base/n_fold.h"
#include "enctype.h"

namespace tkdc {
namespace {

constexpr std::uint8_t kForKe = 0xaa;  // RFC 3961, section 5.3: behind the usage
constexpr std::size_t kAesBlock = 16;
constexpr std::uint32_t kFirstOfSha2 = 19;

Error openssl_failed() { return fail("OpenSSL could not derive a key"); }

// DR: AES of the folded constant, then of what came before.
Result<SecretVector> derive_by_aes(const SecretVector& key, const Bytes& constant) {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> aes(EVP_CIPHER_CTX_new(),
                                                                            EVP_CIPHER_CTX_free);
  const EVP_CIPHER* cipher = key.size() == 16 ? EVP_aes_128_ecb() : EVP_aes_256_ecb();
  if (!aes || EVP_EncryptInit_ex2(aes.get(), cipher, key.data(), nullptr, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(aes.get(), 0) != 1)
    return openssl_failed();
  const Bytes folded = n_fold(constant);
  SecretVector block(folded.begin(), folded.end()), out;
  while (out.size() < key.size()) {
    int written = 0;
    if (EVP_EncryptUpdate(aes.get(), block.data(), &written, block.data(), kAesBlock) != 1 ||
        written != kAesBlock)
      return openssl_failed();
    out.insert(out.end(), block.begin(), block.end());
  }
  return out;
}

// KDF-HMAC-SHA2 without a context: one HMAC is long enough.
Result<SecretVector> derive_by_hmac(const SecretVector& key, const Bytes& constant) {
  const auto bits = static_cast<std::uint32_t>(8 * key.size());
  Bytes message;
  Writer w(message);
  w.u32(1);
  w.raw(constant);
  w.u8(0);
  w.u32(bits);
  SecretVector out(EVP_MAX_MD_SIZE);
  unsigned length = 0;
  const EVP_MD* hash = key.size() == 16 ? EVP_sha256() : EVP_sha384();
  if (HMAC(hash, key.data(), static_cast<int>(key.size()), message.data(), message.size(),
           out.data(), &length) == nullptr ||
      length < key.size())
    return openssl_failed();
  out.resize(key.size());
  return out;
}

}  // namespace

Result<SecretVector> encryption_key_of(std::uint32_t enctype, const SecretVector& key,
                                       std::uint32_t usage) {
  const tkdc_enctype* served = tkdc_enctype_of(enctype);
  if (served == nullptr || key.size() != served->key_bytes)
    return fail("no key of enctype " + std::to_string(enctype));
  Bytes constant;
  Writer w(constant);
  w.u32(usage);
  w.u8(kForKe);
  return enctype < kFirstOfSha2 ? derive_by_aes(key, constant) : derive_by_hmac(key, constant);
}

}  // namespace tkdc
