// SPDX-License-Identifier: Apache-2.0
#include "rep3/counter_zero_stream.h"

#include <algorithm>

namespace tkdc {

CounterZeroStream::CounterZeroStream(const ZeroStreamKeys& keys, std::string_view purpose)
    : key_{StreamKey(keys.mine, purpose), StreamKey(keys.next, purpose)},
      ratchet_bytes_(keys.ratchet_bytes) {}

void CounterZeroStream::next(std::uint8_t* out, std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t piece = next_piece(bytes);
    generate(at_, out, piece);
    out += piece;
    bytes -= piece;
    at_ += piece;
  }
}

void CounterZeroStream::skip(std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t piece = next_piece(bytes);
    bytes -= piece;
    at_ += piece;
  }
}

const std::uint8_t* CounterZeroStream::key(int c, std::uint64_t position, std::size_t bytes) const {
  return under_key(ratchets_, ratchet_bytes_, position, bytes) ? key_[c].data() : nullptr;
}

const std::uint8_t* CounterZeroStream::in_use(std::size_t c) const { return key_[c].data(); }

std::size_t CounterZeroStream::next_piece(std::size_t bytes) {
  if (at_ == ratchet_bytes_) {
    for (StreamKey& key : key_) key.ratchet();
    ++ratchets_;
    at_ = 0;
    keys_replaced();
  }
  return std::min<std::uint64_t>(bytes, ratchet_bytes_ - at_);
}

}  // namespace tkdc
