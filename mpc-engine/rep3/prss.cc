// SPDX-License-Identifier: Apache-2.0
#include "rep3/prss.h"

#include <algorithm>
#include <cstring>

#include "net/session.h"
#include "share/shared_bytes.h"

namespace tkdc {
namespace {

constexpr std::size_t kChunkBytes = 16 * 1024;

void derive(MutableByteSpan out, ByteSpan key, std::string_view label) {
  crypto_generichash(out.data(), out.size(), reinterpret_cast<const std::uint8_t*>(label.data()),
                     label.size(), key.data(), key.size());
}

}  // namespace

Stream::Stream(ByteSpan component_key, std::string_view purpose)
    : cipher_(EVP_CIPHER_CTX_new()) {
  derive(key_.span(), component_key, purpose);
  rekey();
}

void Stream::rekey() {
  static constexpr std::uint8_t kZeroCounter[16] = {};
  if (!cipher_ || EVP_EncryptInit_ex2(cipher_.get(), EVP_aes_128_ctr(), key_.data(), kZeroCounter,
                                      nullptr) != 1)
    throw std::bad_alloc();
}

void Stream::next(std::uint8_t* out, std::size_t bytes) {
  std::memset(out, 0, bytes);
  while (bytes > 0) {
    if (left_ == 0) {
      SecretBuffer following(32);
      derive(following.span(), key_.span(), "tkdc ratchet");
      key_ = std::move(following);
      rekey();
      left_ = kRatchetBytes;
    }
    std::size_t piece = std::min<std::uint64_t>({bytes, left_, std::uint64_t{1} << 30});
    int written = 0;
    if (EVP_EncryptUpdate(cipher_.get(), out, &written, out, static_cast<int>(piece)) != 1 ||
        written != static_cast<int>(piece))
      std::abort();  // never go on with a mask that is not random
    out += piece;
    bytes -= piece;
    left_ -= piece;
  }
}

Prss::Prss(const PairwiseKeys& keys)
    : zero_mine_(keys.mine.span(), "tkdc zero"),
      zero_next_(keys.next.span(), "tkdc zero"),
      random_mine_(keys.mine.span(), "tkdc random"),
      random_next_(keys.next.span(), "tkdc random") {}

void Prss::refill(std::size_t bytes) {
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ = 0;
  std::size_t have = ready_.size();
  bytes = (bytes + kChunkBytes - 1) / kChunkBytes * kChunkBytes;
  ready_.resize(have + bytes);
  other_.resize(std::max(other_.size(), bytes));
  zero_mine_.next(ready_.data() + have, bytes);
  zero_next_.next(other_.data(), bytes);
  xor_bytes(ready_.data() + have, other_.data(), bytes);
}

void Prss::prefetch(std::size_t bytes) {
  if (ready_.size() - used_ < bytes) refill(bytes - (ready_.size() - used_));
}

void Prss::mask(std::uint8_t* out, std::size_t bytes) {
  prefetch(bytes);
  xor_bytes(out, ready_.data() + used_, bytes);
  used_ += bytes;
}

void Prss::random(std::uint8_t* mine, std::uint8_t* next, std::size_t bytes) {
  random_mine_.next(mine, bytes);
  random_next_.next(next, bytes);
}

}  // namespace tkdc
