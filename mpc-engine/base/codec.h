// SPDX-License-Identifier: Apache-2.0
// Big-endian encoding for everything that crosses a process boundary. Reading
// past the end never touches memory: it latches a failure which the caller
// checks once, at the end.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace tkdc {

template <class Vector = Bytes>
class BasicWriter {
 public:
  explicit BasicWriter(Vector& out) : out_(out) {}

  void u8(std::uint8_t v) { out_.push_back(v); }
  void u16(std::uint16_t v) { put(v, 2); }
  void u32(std::uint32_t v) { put(v, 4); }
  void u64(std::uint64_t v) { put(v, 8); }
  void raw(ByteSpan bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void bytes(ByteSpan bytes) {
    u32(static_cast<std::uint32_t>(bytes.size()));
    raw(bytes);
  }
  void text(std::string_view s) {
    bytes({reinterpret_cast<const std::uint8_t*>(s.data()), s.size()});
  }

 private:
  void put(std::uint64_t v, int width) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
      out_.push_back(static_cast<std::uint8_t>(v >> shift));
  }
  Vector& out_;
};

using Writer = BasicWriter<Bytes>;
using SecretWriter = BasicWriter<SecretVector>;

class Reader {
 public:
  explicit Reader(ByteSpan in) : in_(in) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(get(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(get(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(get(4)); }
  std::uint64_t u64() { return get(8); }

  // A view of the next n octets; empty after a failure.
  ByteSpan raw(std::size_t n) {
    if (failed_ || n > in_.size()) {
      failed_ = true;
      return {};
    }
    ByteSpan piece = in_.first(n);
    in_ = in_.subspan(n);
    return piece;
  }
  // u32 length and that many octets; fails when longer than `max`.
  ByteSpan bytes(std::size_t max) {
    std::size_t n = u32();
    if (n > max) failed_ = true;
    return raw(n);
  }
  std::string text(std::size_t max) {
    ByteSpan piece = bytes(max);
    return {reinterpret_cast<const char*>(piece.data()), piece.size()};
  }
  template <std::size_t N>
  void array(std::array<std::uint8_t, N>& out) {
    ByteSpan piece = raw(N);
    if (piece.size() == N) std::memcpy(out.data(), piece.data(), N);
  }

  std::size_t remaining() const { return in_.size(); }
  bool failed() const { return failed_; }
  // True when everything was read and nothing is left over.
  bool complete() const { return !failed_ && in_.empty(); }

 private:
  std::uint64_t get(std::size_t width) {
    ByteSpan piece = raw(width);
    std::uint64_t v = 0;
    for (std::uint8_t octet : piece) v = v << 8 | octet;
    return v;
  }
  ByteSpan in_;
  bool failed_ = false;
};

}  // namespace tkdc
