// SPDX-License-Identifier: Apache-2.0
// The digest of a wire-format.txt as the build takes it (add_wire_format): 16 digits of SHA-256.
#pragma once

#include <sodium.h>

#include <fstream>
#include <iterator>
#include <string>

namespace tkdc::test {

inline std::uint64_t digest_of_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::uint8_t hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(hash, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  std::uint64_t out = 0;
  for (std::size_t k = 0; k < sizeof out; ++k) out = out << 8 | hash[k];
  return out;
}

}  // namespace tkdc::test
