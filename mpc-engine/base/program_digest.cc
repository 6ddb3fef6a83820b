// SPDX-License-Identifier: Apache-2.0
#include "base/program_digest.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "base/hex.h"
#include "base/system_error.h"
#include "base/unique_fd.h"

namespace tkdc {

Result<std::string> program_digest() {
  constexpr const char* kSelf = "/proc/self/exe";
  constexpr std::size_t kPieceBytes = 64 * 1024;
  const UniqueFd fd(::open(kSelf, O_RDONLY | O_CLOEXEC));
  if (!fd) return system_error(std::string("cannot open ") + kSelf);
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  Bytes piece(kPieceBytes);
  for (;;) {
    const ssize_t n = ::read(fd.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(std::string("cannot read ") + kSelf);
    if (n == 0) break;
    crypto_hash_sha256_update(&state, piece.data(), static_cast<std::size_t>(n));
  }
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> digest;
  crypto_hash_sha256_final(&state, digest.data());
  return to_hex(digest);
}

}  // namespace tkdc
