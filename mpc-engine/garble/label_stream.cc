// SPDX-License-Identifier: Apache-2.0
#include "garble/label_stream.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace tkdc::garble {
namespace {

constexpr std::size_t kBlockBytes = 64, kLabelsPerBlock = kBlockBytes / kLabelBytes;
static_assert(crypto_stream_chacha20_KEYBYTES == kSeedBytes);

}  // namespace

LabelStream::LabelStream(ByteSpan seed, Purpose purpose) : purpose_(purpose) {
  assert(seed.size() == kSeedBytes);
  std::copy(seed.begin(), seed.end(), seed_.data());
}

void LabelStream::fill(std::span<Label> out) {
  const std::uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = {
      static_cast<std::uint8_t>(purpose_)};
  // Whole blocks go to their place; labels of a block that was begun before, or is not used up,
  // come from a copy.
  while (!out.empty()) {
    const std::size_t skip = position_ % kLabelsPerBlock;
    std::size_t count = out.size() / kLabelsPerBlock * kLabelsPerBlock;
    const std::uint64_t block = position_ / kLabelsPerBlock;
    if (skip == 0 && count > 0) {
      auto* to = reinterpret_cast<std::uint8_t*>(out.data());
      std::memset(to, 0, count * kLabelBytes);
      crypto_stream_chacha20_xor_ic(to, to, count * kLabelBytes, nonce, block, seed_.data());
    } else {
      Label copy[kLabelsPerBlock] = {};
      auto* to = reinterpret_cast<std::uint8_t*>(copy);
      crypto_stream_chacha20_xor_ic(to, to, kBlockBytes, nonce, block, seed_.data());
      count = std::min(out.size(), kLabelsPerBlock - skip);
      std::copy_n(copy + skip, count, out.begin());
      sodium_memzero(copy, sizeof copy);
    }
    position_ += count;
    out = out.subspan(count);
  }
}

Label LabelStream::next() {
  Label out;
  fill(std::span(&out, 1));
  return out;
}

Label draw_delta(ByteSpan seed) {
  Label delta = LabelStream(seed, Purpose::kDelta).next();
  delta.low |= 1;
  return delta;
}

}  // namespace tkdc::garble
