// SPDX-License-Identifier: Apache-2.0
// Zero-shares by ChaCha20 (RFC 8439, section 2.4), for sessions between GPUs: each component's
// stream is the cipher's under the nonce 0, from block counter 0. Counters have 32 bits, blocks
// 64 octets; a key is replaced long before they end. libsodium's cipher is the reference and the
// fallback.
#include <algorithm>
#include <cstring>

#include "rep3/chacha20.h"
#include "rep3/counter_zero_stream.h"

namespace tkdc {
namespace {

constexpr std::size_t kBlockBytes = 64;
static_assert(kRatchetBytes <= std::uint64_t{kBlockBytes} << 32);
static_assert(ZeroStream::kPieceBytes % kBlockBytes == 0);
static_assert(crypto_stream_chacha20_ietf_KEYBYTES == 32);
// Both streams are added to a piece while it is in the first cache.
constexpr std::size_t kAtOnceBytes = 8 * 1024;

void added_chacha20_sodium(const std::uint8_t* a, const std::uint8_t* b, std::uint32_t counter,
                           std::uint8_t* out, std::size_t bytes) {
  static constexpr std::uint8_t kNonce[crypto_stream_chacha20_ietf_NONCEBYTES] = {};
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, kAtOnceBytes);
    std::memset(out, 0, piece);
    for (const std::uint8_t* key : {a, b})
      if (crypto_stream_chacha20_ietf_xor_ic(out, out, piece, kNonce, counter, key) != 0)
        std::abort();  // never go on with a mask that is not random
    counter += static_cast<std::uint32_t>(piece / kBlockBytes);
    out += piece;
    bytes -= piece;
  }
}

// Not AES-CTR's: the two generators never work under one key.
constexpr std::string_view kPurpose = "tkdc zero chacha20";

class ChaCha20ZeroStream final : public CounterZeroStream {
 public:
  ChaCha20ZeroStream(const ZeroStreamKeys& keys, const char* name, AddedChaCha20 added)
      : CounterZeroStream(keys, kPurpose), name_(name), added_(added) {}
  const char* name() const override { return name_; }

 private:
  void generate(std::uint64_t at, std::uint8_t* out, std::size_t bytes) override {
    added_(in_use(0), in_use(1), static_cast<std::uint32_t>(at / kBlockBytes), out, bytes);
  }
  void keys_replaced() override {}

  const char* const name_;
  const AddedChaCha20 added_;
};

}  // namespace

std::unique_ptr<ZeroStream> zero_stream_chacha20(const ZeroStreamKeys& keys) {
  return std::make_unique<ChaCha20ZeroStream>(keys, "chacha20", added_chacha20_sodium);
}

std::unique_ptr<ZeroStream> zero_stream_chacha20_avx512(const ZeroStreamKeys& keys) {
  const AddedChaCha20 generate = added_chacha20_avx512();
  if (generate == nullptr) return nullptr;
  return std::make_unique<ChaCha20ZeroStream>(keys, "chacha20-avx512", generate);
}

}  // namespace tkdc
