// SPDX-License-Identifier: Apache-2.0
#include "service/store/store_cipher.h"

#include <algorithm>
#include <cstring>

namespace tkdc {
namespace {

constexpr std::string_view kLabel = "tkdc store value 1";
constexpr std::size_t kNonceBytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kTagBytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;

constexpr std::size_t kInnerNonceBytes = 12;

}  // namespace

ManyValues::ManyValues() : context_(EVP_CIPHER_CTX_new()) {
  if (context_ &&
      EVP_DecryptInit_ex(context_.get(), EVP_chacha20_poly1305(), nullptr, nullptr, nullptr) != 1)
    context_.reset();
}

// XChaCha20-Poly1305 is ChaCha20-Poly1305 under a key that HChaCha20 makes of the key and the
// nonce's first 16 octets; its own nonce is four zeros and the other eight.
bool ManyValues::opens(const SecretBuffer& key, const std::uint8_t* nonce, ByteSpan ad,
                       ByteSpan sealed, MutableByteSpan out) {
  if (!context_) return false;
  SecretVector inner(crypto_core_hchacha20_OUTPUTBYTES);
  crypto_core_hchacha20(inner.data(), nonce, key.data(), nullptr);
  std::uint8_t inner_nonce[kInnerNonceBytes] = {};
  std::memcpy(inner_nonce + 4, nonce + crypto_core_hchacha20_INPUTBYTES, 8);
  std::uint8_t tag[kTagBytes];
  std::memcpy(tag, sealed.last(kTagBytes).data(), kTagBytes);
  const ByteSpan ciphertext = sealed.first(sealed.size() - kTagBytes);
  int made = 0;
  EVP_CIPHER_CTX* context = context_.get();
  return EVP_DecryptInit_ex(context, nullptr, nullptr, inner.data(), inner_nonce) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag) == 1 &&
         EVP_DecryptUpdate(context, nullptr, &made, ad.data(), static_cast<int>(ad.size())) == 1 &&
         EVP_DecryptUpdate(context, out.data(), &made, ciphertext.data(),
                           static_cast<int>(ciphertext.size())) == 1 &&
         EVP_DecryptFinal_ex(context, out.data() + made, &made) == 1;
}

StoreCipher::StoreCipher(const SecretBuffer& key, const InstallationId& installation, int party)
    : key_(crypto_aead_xchacha20poly1305_ietf_KEYBYTES), installation_(installation),
      party_(party) {
  std::memcpy(key_.data(), key.data(), key_.size());
}

void StoreCipher::also_decrypts(const SecretBuffer& other) {
  SecretBuffer& copy = others_.emplace_back(other.size());
  std::memcpy(copy.data(), other.data(), other.size());
}

Bytes StoreCipher::associated_data(std::string_view table, ByteSpan name, ByteSpan header) const {
  Bytes ad;
  Writer w(ad);
  w.text(kLabel);
  w.raw(installation_);
  w.u8(static_cast<std::uint8_t>(party_));
  w.text(table);
  w.bytes(name);
  w.bytes(header);
  return ad;
}

std::size_t StoreCipher::sealed_bytes(std::size_t header, std::size_t plaintext) {
  return 1 + header + kNonceBytes + plaintext + kTagBytes;
}

Bytes StoreCipher::encrypt(std::string_view table, ByteSpan name, ByteSpan header,
                           ByteSpan plaintext) const {
  Bytes ad = associated_data(table, name, header);
  std::size_t prefix = 1 + header.size() + kNonceBytes;
  Bytes value(sealed_bytes(header.size(), plaintext.size()));
  value[0] = static_cast<std::uint8_t>(header.size());
  std::copy(header.begin(), header.end(), value.begin() + 1);
  std::uint8_t* nonce = value.data() + 1 + header.size();
  randombytes_buf(nonce, kNonceBytes);
  crypto_aead_xchacha20poly1305_ietf_encrypt(value.data() + prefix, nullptr, plaintext.data(),
                                             plaintext.size(), ad.data(), ad.size(), nullptr, nonce,
                                             key_.data());
  return value;
}

bool StoreCipher::header(ByteSpan value, std::size_t bytes, ByteSpan& out) {
  if (value.size() < 1 + bytes || value[0] != bytes) return false;
  out = value.subspan(1, bytes);
  return true;
}

bool StoreCipher::decrypt(std::string_view table, ByteSpan name, ByteSpan value,
                          SecretVector& plaintext, Under under, ManyValues* many) const {
  if (value.empty() || value.size() < 1 + value[0] + kNonceBytes + kTagBytes) return false;
  ByteSpan header = value.subspan(1, value[0]);
  const std::uint8_t* nonce = value.data() + 1 + header.size();
  ByteSpan ciphertext = value.subspan(1 + header.size() + kNonceBytes);
  Bytes ad = associated_data(table, name, header);
  plaintext.resize(ciphertext.size() - kTagBytes);
  auto opens = [&](const SecretBuffer& key) {
    if (many != nullptr && many->opens(key, nonce, ad, ciphertext, plaintext)) return true;
    return crypto_aead_xchacha20poly1305_ietf_decrypt(plaintext.data(), nullptr, nullptr,
                                                      ciphertext.data(), ciphertext.size(),
                                                      ad.data(), ad.size(), nonce, key.data()) == 0;
  };
  return opens(key_) || (under == Under::kAny && std::ranges::any_of(others_, opens));
}

}  // namespace tkdc
