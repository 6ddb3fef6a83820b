// SPDX-License-Identifier: Apache-2.0
#include "rep3/prss.h"

#include <algorithm>
#include <cstring>

#include "protocol/shared_bytes.h"
#include "session/session.h"

namespace tkdc {
namespace {

// Enough at once to make the generators run at speed, and little enough to stay in the cache.
constexpr std::size_t kChunkBytes = 16 * 1024;

std::size_t whole_chunks(std::size_t bytes) {
  return (bytes + kChunkBytes - 1) / kChunkBytes * kChunkBytes;
}

}  // namespace

Stream::Stream(ByteSpan component_key, std::string_view purpose, std::uint64_t ratchet_bytes)
    : cipher_(EVP_CIPHER_CTX_new()), key_(component_key, purpose), ratchet_bytes_(ratchet_bytes),
      left_(ratchet_bytes) {
  rekey();
}

void Stream::rekey() {
  static constexpr std::uint8_t kZeroCounter[16] = {};
  if (!cipher_ || EVP_EncryptInit_ex2(cipher_.get(), EVP_aes_128_ctr(), key_.data(), kZeroCounter,
                                      nullptr) != 1)
    throw std::bad_alloc();
}

std::size_t Stream::next_piece(std::size_t bytes) {
  if (left_ == 0) {
    key_.ratchet();
    ++ratchets_;
    rekey();
    left_ = ratchet_bytes_;
  }
  return std::min<std::uint64_t>({bytes, left_, std::uint64_t{1} << 30});
}

void Stream::skip(std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t piece = next_piece(bytes);
    bytes -= piece;
    left_ -= piece;
  }
  if (left_ == 0) return;  // the next key starts at its own counter
  std::uint8_t counter[16] = {};
  std::uint64_t block = (ratchet_bytes_ - left_) / 16;
  for (int k = 15; k >= 8; --k, block >>= 8) counter[k] = static_cast<std::uint8_t>(block);
  if (EVP_EncryptInit_ex2(cipher_.get(), nullptr, nullptr, counter, nullptr) != 1)
    std::abort();  // never go on with a mask that is used twice
}

void Stream::next(std::uint8_t* out, std::size_t bytes) {
  if (bytes == 0) return;
  std::memset(out, 0, bytes);
  while (bytes > 0) {
    std::size_t piece = next_piece(bytes);
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
    : zero_generator_(keys.zero_generator),
      zero_(make_zero_stream(
          {keys.mine.span(), keys.next.span(), kRatchetBytes, keys.zero_generator})),
      random_mine_(keys.mine.span(), "tkdc random"), random_next_(keys.next.span(), "tkdc random"),
      challenge_mine_(keys.mine.span(), "tkdc challenge"),
      challenge_next_(keys.next.span(), "tkdc challenge") {}

void Prss::prefetch(std::size_t bytes) {
  bytes = std::min(bytes, kMaxAheadBytes);
  const std::size_t have = made_ - used_;
  if (have >= bytes) return;
  if (used_ > 0) {  // what is left moves to the front: less than a chunk, as a rule
    std::memmove(ready_.data(), ready_.data() + used_, have);
    used_ = 0;
    made_ = have;
  }
  const std::size_t more = whole_chunks(bytes - have);
  if (ready_.size() < made_ + more) ready_.resize(made_ + more);
  zero_->next(ready_.data() + made_, more);
  made_ += more;
}

void Prss::add_zero_share(std::uint8_t* out, std::size_t bytes) {
  while (bytes > 0) {
    if (used_ == made_) prefetch(kChunkBytes);
    const std::size_t piece = std::min(bytes, made_ - used_);
    xor_bytes(out, ready_.data() + used_, piece);
    used_ += piece;
    out += piece;
    bytes -= piece;
  }
}

void Prss::skip(std::size_t bytes) {
  const std::size_t made = std::min(bytes, made_ - used_);
  used_ += made;
  bytes -= made;
  if (bytes == 0) return;
  const std::size_t rest = bytes % ZeroStream::kPieceBytes;
  zero_->skip(bytes - rest);
  if (rest == 0) return;
  prefetch(kChunkBytes);
  used_ += rest;
}

void Prss::random(std::uint8_t* mine, std::uint8_t* next, std::size_t bytes, Purpose purpose) {
  const bool challenge = purpose == Purpose::kChallenge;
  (challenge ? challenge_mine_ : random_mine_).next(mine, bytes);
  (challenge ? challenge_next_ : random_next_).next(next, bytes);
}

}  // namespace tkdc
