// SPDX-License-Identifier: Apache-2.0
#include "agent/share_stream.h"

#include <algorithm>
#include <cstring>

namespace tkdc::agent {

ShareStream::ShareStream() : used_(pool_.size()) { randombytes_buf(key_.data(), key_.size()); }

void ShareStream::refill() {
  // The nonce may be constant because each key makes one stream only.
  static constexpr std::uint8_t kNonce[crypto_stream_chacha20_ietf_NONCEBYTES] = {};
  crypto_stream_chacha20_ietf(pool_.data(), pool_.size(), kNonce, key_.data());
  std::memcpy(key_.data(), pool_.data(), key_.size());
  sodium_memzero(pool_.data(), key_.size());
  used_ = key_.size();
}

void ShareStream::fill(MutableByteSpan out) {
  while (!out.empty()) {
    if (used_ == pool_.size()) refill();
    std::size_t n = std::min(out.size(), pool_.size() - used_);
    std::memcpy(out.data(), pool_.data() + used_, n);
    sodium_memzero(pool_.data() + used_, n);
    used_ += n;
    out = out.subspan(n);
  }
}

std::array<SecretVector, 3> split(ShareStream& stream, SecretVector secret) {
  std::size_t bytes = secret.size();
  std::array<SecretVector, 3> x{SecretVector(bytes), SecretVector(bytes), std::move(secret)};
  stream.fill(x[0]);
  stream.fill(x[1]);
  for (std::size_t i = 0; i < bytes; ++i) x[2][i] ^= x[0][i] ^ x[1][i];
  return x;
}

}  // namespace tkdc::agent
