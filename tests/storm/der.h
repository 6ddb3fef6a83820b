// SPDX-License-Identifier: Apache-2.0
// DER as Kerberos uses it (RFC 4120, appendix A): definite lengths, tags below
// 31. The writer makes requests, the reader takes replies from the network,
// which may be anything: every length is checked, must be the shortest form,
// and a failure latches, so that a caller looks once, at the end.
//
// Used by messages.cc and replies.cc. No state, no secrets of its own.
#pragma once

#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tkdc::storm {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

inline ByteSpan octets_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

namespace tag {
constexpr std::uint8_t kInteger = 0x02;
constexpr std::uint8_t kBits = 0x03;
constexpr std::uint8_t kOctets = 0x04;
constexpr std::uint8_t kTime = 0x18;
constexpr std::uint8_t kText = 0x1b;
constexpr std::uint8_t kSequence = 0x30;
constexpr std::uint8_t context(int number) { return static_cast<std::uint8_t>(0xa0 | number); }
constexpr std::uint8_t application(int number) { return static_cast<std::uint8_t>(0x60 | number); }
}  // namespace tag

class DerWriter {
 public:
  explicit DerWriter(Bytes& out) : out_(out) {}

  // An element whose contents `body` writes.
  template <class Body>
  void element(std::uint8_t tag, Body&& body) {
    out_.push_back(tag);
    std::size_t start = out_.size();
    body();
    insert_length(start);
  }
  void value(std::uint8_t tag, ByteSpan contents);
  void integer(std::int64_t v);
  void octets(ByteSpan v) { value(tag::kOctets, v); }
  void text(std::string_view v) { value(tag::kText, octets_of(v)); }
  void time(std::time_t v);
  void flags(std::uint32_t v);
  // An element that is already encoded.
  void raw(ByteSpan encoded) { out_.insert(out_.end(), encoded.begin(), encoded.end()); }

 private:
  void insert_length(std::size_t start);
  Bytes& out_;
};

class DerReader {
 public:
  // `failed` is set by this reader and by all that come from it.
  DerReader(ByteSpan in, bool& failed) : in_(in), failed_(&failed) {}

  bool empty() const { return *failed_ || in_.empty(); }
  bool next_is(std::uint8_t tag) const { return !empty() && in_[0] == tag; }
  // The contents of the next element, which must have this tag.
  ByteSpan value(std::uint8_t tag);
  // The next element with its tag and length.
  ByteSpan whole(std::uint8_t tag);
  DerReader inside(std::uint8_t tag) { return {value(tag), *failed_}; }
  std::int64_t integer();
  ByteSpan octets() { return value(tag::kOctets); }
  std::string_view text();
  std::time_t time();
  std::uint32_t flags();
  // Steps over an optional element.
  void skip(std::uint8_t tag) {
    if (next_is(tag)) value(tag);
  }
  // Nothing may follow.
  void end() {
    if (!in_.empty()) *failed_ = true;
  }

 private:
  ByteSpan fail() {
    *failed_ = true;
    return {};
  }
  ByteSpan in_;
  bool* failed_;
};

}  // namespace tkdc::storm
