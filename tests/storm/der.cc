// SPDX-License-Identifier: Apache-2.0
#include "storm/der.h"

#include <array>
#include <cstdio>

namespace tkdc::storm {

void DerWriter::insert_length(std::size_t start) {
  std::size_t length = out_.size() - start;
  std::array<std::uint8_t, 5> form{};
  std::size_t used = 1;
  if (length < 0x80) {
    form[0] = static_cast<std::uint8_t>(length);
  } else {
    std::size_t octets = length > 0xffffff ? 4 : length > 0xffff ? 3 : length > 0xff ? 2 : 1;
    form[0] = static_cast<std::uint8_t>(0x80 | octets);
    for (std::size_t i = 0; i < octets; ++i)
      form[1 + i] = static_cast<std::uint8_t>(length >> (8 * (octets - 1 - i)));
    used = 1 + octets;
  }
  out_.insert(out_.begin() + static_cast<std::ptrdiff_t>(start), form.begin(), form.begin() + used);
}

void DerWriter::value(std::uint8_t tag, ByteSpan contents) {
  element(tag, [&] { raw(contents); });
}

void DerWriter::integer(std::int64_t v) {
  element(tag::kInteger, [&] {
    int octets = 8;
    // Shortest two's complement: drop an octet while the next one has its sign.
    while (octets > 1 && (v >> (8 * octets - 9) == 0 || v >> (8 * octets - 9) == -1)) --octets;
    for (int i = octets - 1; i >= 0; --i) out_.push_back(static_cast<std::uint8_t>(v >> (8 * i)));
  });
}

void DerWriter::time(std::time_t v) {
  std::tm utc{};
  gmtime_r(&v, &utc);
  char text[32];
  std::size_t n = std::strftime(text, sizeof text, "%Y%m%d%H%M%SZ", &utc);
  value(tag::kTime, octets_of({text, n}));
}

void DerWriter::flags(std::uint32_t v) {
  element(tag::kBits, [&] {
    out_.push_back(0);  // no unused bits
    for (int shift = 24; shift >= 0; shift -= 8)
      out_.push_back(static_cast<std::uint8_t>(v >> shift));
  });
}

ByteSpan DerReader::whole(std::uint8_t tag) {
  ByteSpan before = in_;
  value(tag);
  return *failed_ ? ByteSpan{} : before.first(before.size() - in_.size());
}

ByteSpan DerReader::value(std::uint8_t tag) {
  if (*failed_ || in_.size() < 2 || in_[0] != tag) return fail();
  std::size_t length = in_[1], header = 2;
  if (length >= 0x80) {
    std::size_t octets = length & 0x7f;
    if (octets == 0 || octets > 4 || in_.size() < 2 + octets || in_[2] == 0) return fail();
    length = 0;
    for (std::size_t i = 0; i < octets; ++i) length = length << 8 | in_[2 + i];
    if (length < 0x80) return fail();
    header += octets;
  }
  if (length > in_.size() - header) return fail();
  ByteSpan contents = in_.subspan(header, length);
  in_ = in_.subspan(header + length);
  return contents;
}

std::int64_t DerReader::integer() {
  ByteSpan v = value(tag::kInteger);
  if (v.empty() || v.size() > 8) {
    fail();
    return 0;
  }
  bool padded = v.size() > 1 && ((v[0] == 0 && v[1] < 0x80) || (v[0] == 0xff && v[1] >= 0x80));
  if (padded) fail();
  std::uint64_t number = v[0] >= 0x80 ? ~std::uint64_t{0} : 0;
  for (std::uint8_t octet : v) number = number << 8 | octet;
  return static_cast<std::int64_t>(number);
}

std::string_view DerReader::text() {
  ByteSpan v = value(tag::kText);
  return {reinterpret_cast<const char*>(v.data()), v.size()};
}

std::time_t DerReader::time() {
  ByteSpan v = value(tag::kTime);
  if (v.size() != 15 || v[14] != 'Z') {
    fail();
    return 0;
  }
  std::array<int, 14> digit{};
  for (std::size_t i = 0; i < 14; ++i) {
    if (v[i] < '0' || v[i] > '9') fail();
    digit[i] = v[i] - '0';
  }
  auto two = [&](std::size_t i) { return 10 * digit[i] + digit[i + 1]; };
  std::tm utc{};
  utc.tm_year = 100 * two(0) + two(2) - 1900;
  utc.tm_mon = two(4) - 1;
  utc.tm_mday = two(6);
  utc.tm_hour = two(8);
  utc.tm_min = two(10);
  utc.tm_sec = two(12);
  if (utc.tm_mon < 0 || utc.tm_mon > 11 || utc.tm_mday < 1 || utc.tm_mday > 31) fail();
  return *failed_ ? 0 : timegm(&utc);
}

std::uint32_t DerReader::flags() {
  ByteSpan v = value(tag::kBits);
  if (v.size() != 5 || v[0] != 0) {
    fail();
    return 0;
  }
  return std::uint32_t{v[1]} << 24 | std::uint32_t{v[2]} << 16 | std::uint32_t{v[3]} << 8 | v[4];
}

}  // namespace tkdc::storm
