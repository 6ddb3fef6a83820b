// SPDX-License-Identifier: Apache-2.0
#include "storm/crypto.h"

#include <openssl/evp.h>

#include <array>
#include <cstring>

namespace tkdc::storm {
namespace {

constexpr int kIterations = 4096;  // RFC 3962, section 4, when the KDC names no other

krb5_data as_data(ByteSpan octets) {
  krb5_data data{};
  data.length = static_cast<unsigned>(octets.size());
  // libkrb5 takes inputs without const and does not write to them.
  data.data = const_cast<char*>(reinterpret_cast<const char*>(octets.data()));
  return data;
}

// RFC 3961's DK with the constant "kerberos", whose 128-bit n-fold is in its
// appendix A.1: as many blocks of the chain E(n-fold), E(E(n-fold)) as needed.
bool derive_kerberos(ByteSpan base, Bytes& out) {
  static constexpr std::array<std::uint8_t, 16> kFolded = {0x6b, 0x65, 0x72, 0x62, 0x65, 0x72,
                                                           0x6f, 0x73, 0x7b, 0x9b, 0x5b, 0x2b,
                                                           0x93, 0x13, 0x2b, 0x93};
  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> cipher(EVP_CIPHER_CTX_new(),
                                                                         EVP_CIPHER_CTX_free);
  const EVP_CIPHER* kind = base.size() == 32 ? EVP_aes_256_ecb() : EVP_aes_128_ecb();
  if (!cipher || EVP_EncryptInit_ex(cipher.get(), kind, nullptr, base.data(), nullptr) != 1)
    return false;
  std::array<std::uint8_t, 32> block{};
  std::memcpy(block.data(), kFolded.data(), kFolded.size());
  out.clear();
  while (out.size() < base.size()) {
    std::array<std::uint8_t, 32> next{};
    int n = 0;
    if (EVP_EncryptUpdate(cipher.get(), next.data(), &n, block.data(), 16) != 1 || n != 16)
      return false;
    out.insert(out.end(), next.begin(), next.begin() + 16);
    block = next;
  }
  return true;
}

}  // namespace

krb5_context context() {
  static krb5_context made = [] {
    krb5_context fresh = nullptr;
    krb5_init_context(&fresh);
    return fresh;
  }();
  return made;
}

std::string krb5_message(krb5_error_code code) {
  const char* text = krb5_get_error_message(context(), code);
  std::string copy = text != nullptr ? text : "unknown error";
  krb5_free_error_message(context(), text);
  return copy;
}

Key::Key(const RawKey& raw) {
  krb5_keyblock block{};
  block.enctype = raw.enctype;
  block.length = static_cast<unsigned>(raw.octets.size());
  block.contents = const_cast<krb5_octet*>(raw.octets.data());
  std::size_t bytes = 0, length = 0;
  krb5_key made = nullptr;
  if (krb5_c_keylengths(context(), raw.enctype, &bytes, &length) != 0 ||
      length != raw.octets.size() || krb5_k_create_key(context(), &block, &made) != 0)
    return;
  key_ = std::shared_ptr<krb5_key_st>(made, [](krb5_key k) { krb5_k_free_key(context(), k); });
}

std::int32_t Key::enctype() const { return key_ ? krb5_k_key_enctype(context(), key_.get()) : 0; }

bool Key::encrypt(Usage usage, ByteSpan plain, Bytes& out) const {
  std::size_t length = 0;
  if (!key_ || krb5_c_encrypt_length(context(), enctype(), plain.size(), &length) != 0)
    return false;
  out.resize(length);
  krb5_data input = as_data(plain);
  krb5_enc_data output{};
  output.ciphertext = as_data(out);
  if (krb5_k_encrypt(context(), key_.get(), usage, nullptr, &input, &output) != 0) return false;
  out.resize(output.ciphertext.length);
  return true;
}

bool Key::decrypt(Usage usage, ByteSpan cipher, Bytes& out) const {
  if (!key_) return false;
  out.resize(cipher.size());
  krb5_enc_data input{};
  input.enctype = enctype();
  input.ciphertext = as_data(cipher);
  krb5_data output = as_data(out);
  if (krb5_k_decrypt(context(), key_.get(), usage, nullptr, &input, &output) != 0) return false;
  out.resize(output.length);
  return true;
}

bool Key::checksum(Usage usage, ByteSpan data, Bytes& out, std::int32_t& type) const {
  krb5_data input = as_data(data);
  krb5_checksum made{};
  if (!key_ || krb5_k_make_checksum(context(), 0, key_.get(), usage, &input, &made) != 0)
    return false;
  out.assign(made.contents, made.contents + made.length);
  type = made.checksum_type;
  krb5_free_checksum_contents(context(), &made);
  return true;
}

void fill_random(std::span<std::uint8_t> out) {
  krb5_data data = as_data(out);
  krb5_c_random_make_octets(context(), &data);
}

RawKey random_key(std::int32_t enctype) {
  RawKey key{enctype, {}};
  krb5_keyblock block{};
  if (krb5_c_make_random_key(context(), enctype, &block) != 0) return key;
  key.octets.assign(block.contents, block.contents + block.length);
  krb5_free_keyblock_contents(context(), &block);
  return key;
}

Result<RawKey> string_to_key(std::int32_t enctype, std::string_view password,
                             std::string_view salt) {
  RawKey key{enctype, {}};
  if (enctype == ENCTYPE_AES128_CTS_HMAC_SHA1_96 || enctype == ENCTYPE_AES256_CTS_HMAC_SHA1_96) {
    Bytes base(enctype == ENCTYPE_AES128_CTS_HMAC_SHA1_96 ? 16 : 32);
    if (PKCS5_PBKDF2_HMAC_SHA1(password.data(), static_cast<int>(password.size()),
                               octets_of(salt).data(), static_cast<int>(salt.size()), kIterations,
                               static_cast<int>(base.size()), base.data()) != 1 ||
        !derive_kerberos(base, key.octets))
      return fail("OpenSSL refuses to derive a key");
    return key;
  }
  krb5_data word = as_data(octets_of(password)), spice = as_data(octets_of(salt));
  krb5_keyblock block{};
  krb5_error_code code = krb5_c_string_to_key(context(), enctype, &word, &spice, &block);
  if (code != 0) return fail("string to key: " + krb5_message(code));
  key.octets.assign(block.contents, block.contents + block.length);
  krb5_free_keyblock_contents(context(), &block);
  return key;
}

Result<std::int32_t> enctype_by_name(const std::string& name) {
  krb5_enctype enctype = 0;
  std::string copy = name;
  if (krb5_string_to_enctype(copy.data(), &enctype) != 0)
    return fail("unknown encryption type " + name);
  return enctype;
}

}  // namespace tkdc::storm
