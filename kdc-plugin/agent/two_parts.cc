// SPDX-License-Identifier: Apache-2.0
// EVP cannot begin with a state that somebody else has computed; SHA_CTX, which OpenSSL 3
// deprecates, can.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "agent/two_parts.h"

#include <openssl/sha.h>

#include <array>

namespace tkdc::agent {
namespace {

constexpr std::size_t kBlockBytes = SHA_CBLOCK;
constexpr std::uint32_t kAes128 = 17, kAes256 = 18;  // RFC 3962: HMAC-SHA1-96

SHA_LONG word(ByteSpan state, std::size_t k) {
  Reader r(state.subspan(4 * k, 4));
  return r.u32();
}

}  // namespace

std::optional<Rest> rest_of(tkdc_wire_op op, const tkdc_enctype& enctype, ByteSpan input) {
  const bool seal = op == TKDC_OP_SEAL;
  if (!seal && op != TKDC_OP_MAC) return std::nullopt;
  if (enctype.enctype != kAes128 && enctype.enctype != kAes256) return std::nullopt;
  const std::size_t confounder = seal ? TKDC_SEAL_HEADER_BYTES : 0;
  if (!worth_two_parts(confounder + input.size())) return std::nullopt;
  Rest rest;
  rest.first_bytes = kBlockBytes - confounder;
  rest.ciphertext_bytes = seal ? confounder + input.size() : 0;
  const ByteSpan behind = input.subspan(rest.first_bytes);
  rest.message.assign(behind.begin(), behind.end());
  return rest;
}

SecretVector inner_digest(ByteSpan state, const Rest& rest) {
  assert(state.size() == kHashStateBytes);
  SHA_CTX context{};
  SHA1_Init(&context);
  SHA_LONG* const words[] = {&context.h0, &context.h1, &context.h2, &context.h3, &context.h4};
  for (std::size_t k = 0; k < std::size(words); ++k) *words[k] = word(state, k);
  context.Nl = 8 * 2 * kBlockBytes;  // bits: the pad and the first block
  SHA1_Update(&context, rest.message.data(), rest.message.size());
  SecretVector digest(kHashStateBytes);
  SHA1_Final(digest.data(), &context);
  sodium_memzero(&context, sizeof context);
  return digest;
}

}  // namespace tkdc::agent
