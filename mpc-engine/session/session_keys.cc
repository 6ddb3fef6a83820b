// SPDX-License-Identifier: Apache-2.0
#include "session/session_keys.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <string_view>

#include "link/openssl.h"

namespace tkdc {
namespace {

constexpr std::string_view kSessionLabel = "tkdc session id";
constexpr std::string_view kPairSessionLabel = "tkdc session id of two";
constexpr std::string_view kKeyLabel = "tkdc pairwise key";
constexpr char kExporterLabel[] = "EXPORTER-tkdc-pairwise-key";

ByteSpan octets(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// OpenSSL's parameters want non-const pointers but do not write.
OSSL_PARAM octet_param(const char* name, ByteSpan value) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<std::uint8_t*>(value.data()),
                                           value.size());
}

Result<void> hkdf_sha256(ByteSpan ikm, ByteSpan salt, ByteSpan info, MutableByteSpan out) {
  EVP_KDF* kdf = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  EVP_KDF_CTX* ctx = kdf != nullptr ? EVP_KDF_CTX_new(kdf) : nullptr;
  char digest[] = "SHA256";
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      octet_param(OSSL_KDF_PARAM_KEY, ikm),
      octet_param(OSSL_KDF_PARAM_SALT, salt),
      octet_param(OSSL_KDF_PARAM_INFO, info),
      OSSL_PARAM_construct_end(),
  };
  bool ok = ctx != nullptr && EVP_KDF_derive(ctx, out.data(), out.size(), params) == 1;
  EVP_KDF_CTX_free(ctx);
  EVP_KDF_free(kdf);
  if (!ok) return fail("session: HKDF failed: " + openssl_error());
  return {};
}

std::array<std::uint8_t, 32> id_of(std::string_view label,
                                   std::span<const std::array<std::uint8_t, 32>> nonces) {
  std::array<std::uint8_t, 32> id{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, id.size());
  crypto_generichash_update(&state, octets(label).data(), label.size());
  for (const auto& nonce : nonces) crypto_generichash_update(&state, nonce.data(), nonce.size());
  crypto_generichash_final(&state, id.data(), id.size());
  return id;
}

}  // namespace

std::array<std::uint8_t, 32> session_id(const std::array<std::array<std::uint8_t, 32>, 3>& nonces) {
  return id_of(kSessionLabel, nonces);
}

std::array<std::uint8_t, 32> pair_session_id(
    const std::array<std::array<std::uint8_t, 32>, 2>& nonces) {
  return id_of(kPairSessionLabel, nonces);
}

Result<void> derive_pairwise_key(const PacketStream& link, const KeyInputs& inputs,
                                 SecretBuffer& out) {
  SecretVector exporter(32);
  auto exported = link.export_key(kExporterLabel, exporter);
  if (!exported.ok()) return exported;

  SecretVector ikm;
  ikm.reserve(inputs.dialler.size() + inputs.acceptor.size() + exporter.size());
  SecretWriter k(ikm);
  k.raw(inputs.dialler);
  k.raw(inputs.acceptor);
  k.raw(exporter);

  Bytes info;
  Writer w(info);
  w.raw(octets(kKeyLabel));
  w.raw(inputs.installation);
  w.raw(inputs.session);
  w.u16(static_cast<std::uint16_t>(inputs.lane));
  w.u8(static_cast<std::uint8_t>(inputs.component));
  return hkdf_sha256(ikm, inputs.session, info, out.span());
}

}  // namespace tkdc
