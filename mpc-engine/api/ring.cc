// SPDX-License-Identifier: Apache-2.0
#include "api/ring.h"

#include <algorithm>
#include <cstring>

#include "field/gf128.h"
#include "field/gf256.h"
#include "protocol/shared_bytes.h"

namespace tkdc::mpc {
namespace {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

template <class Word>
Word load(const std::uint8_t* from) {
  Word w;
  std::memcpy(&w, from, sizeof w);
  return w;
}
template <class Word>
void store(std::uint8_t* to, Word w) {
  std::memcpy(to, &w, sizeof w);
}

// Below 2p -> below p, without a branch.
std::uint64_t once_reduced(std::uint64_t x) {
  const std::uint64_t less = x - kPrime;
  const std::uint64_t keep = 0 - (less >> 63);  // all ones when x < p
  return (x & keep) | (less & ~keep);
}
// Any 64 bits -> below p: 2^61 = 1.
std::uint64_t reduced(std::uint64_t x) { return once_reduced((x & kPrime) + (x >> 61)); }

std::uint64_t multiply_f61(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return once_reduced((static_cast<std::uint64_t>(product) & kPrime) +
                      static_cast<std::uint64_t>(product >> 61));
}

template <class Word, class F>
void for_words(std::uint8_t* out, const std::uint8_t* in, std::size_t bytes, F f) {
  for (std::size_t k = 0; k < bytes; k += sizeof(Word))
    store<Word>(out + k, static_cast<Word>(f(load<Word>(out + k), load<Word>(in + k))));
}

template <class Word>
void multiply_word(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b) {
  const std::uint64_t product = std::uint64_t{load<Word>(a)} * load<Word>(b);
  store<Word>(out, static_cast<Word>(load<Word>(out) + product));
}

}  // namespace

void ring_add(Ring ring, std::uint8_t* out, const std::uint8_t* in, std::size_t bytes) {
  auto plus = [](auto a, auto b) { return a + b; };
  switch (ring) {
    case Ring::kBits:
    case Ring::kGf256:
    case Ring::kGf128: return xor_bytes(out, in, bytes);
    case Ring::kZ2_8: return for_words<std::uint8_t>(out, in, bytes, plus);
    case Ring::kZ2_16: return for_words<std::uint16_t>(out, in, bytes, plus);
    case Ring::kZ2_32: return for_words<std::uint32_t>(out, in, bytes, plus);
    case Ring::kZ2_64: return for_words<std::uint64_t>(out, in, bytes, plus);
    case Ring::kF61:
      return for_words<std::uint64_t>(
          out, in, bytes, [](std::uint64_t a, std::uint64_t b) { return once_reduced(a + b); });
  }
}

void ring_subtract(Ring ring, std::uint8_t* out, const std::uint8_t* in, std::size_t bytes) {
  auto minus = [](auto a, auto b) { return a - b; };
  switch (ring) {
    case Ring::kBits:
    case Ring::kGf256:
    case Ring::kGf128: return xor_bytes(out, in, bytes);
    case Ring::kZ2_8: return for_words<std::uint8_t>(out, in, bytes, minus);
    case Ring::kZ2_16: return for_words<std::uint16_t>(out, in, bytes, minus);
    case Ring::kZ2_32: return for_words<std::uint32_t>(out, in, bytes, minus);
    case Ring::kZ2_64: return for_words<std::uint64_t>(out, in, bytes, minus);
    case Ring::kF61:
      return for_words<std::uint64_t>(out, in, bytes, [](std::uint64_t a, std::uint64_t b) {
        return once_reduced(a + kPrime - b);
      });
  }
}

void ring_multiply_add(Ring ring, std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b) {
  switch (ring) {
    case Ring::kBits: *out = static_cast<std::uint8_t>(*out ^ (*a & *b)); return;
    case Ring::kGf256: *out = static_cast<std::uint8_t>(*out ^ gf256_multiply(*a, *b)); return;
    case Ring::kGf128: return gf128_multiply_add(out, a, b);
    case Ring::kZ2_8: return multiply_word<std::uint8_t>(out, a, b);
    case Ring::kZ2_16: return multiply_word<std::uint16_t>(out, a, b);
    case Ring::kZ2_32: return multiply_word<std::uint32_t>(out, a, b);
    case Ring::kZ2_64: return multiply_word<std::uint64_t>(out, a, b);
    case Ring::kF61:
      return store(out, once_reduced(load<std::uint64_t>(out) +
                                     multiply_f61(load<std::uint64_t>(a), load<std::uint64_t>(b))));
  }
}

void ring_reduce(Ring ring, std::uint8_t* octets, std::size_t bytes) {
  if (ring != Ring::kF61) return;
  for (std::size_t k = 0; k < bytes; k += 8)
    store(octets + k, reduced(load<std::uint64_t>(octets + k)));
}

bool ring_holds(Ring ring, ByteSpan opened) {
  if (ring != Ring::kF61) return true;
  for (std::size_t k = 0; k < opened.size(); k += 8)
    if (load<std::uint64_t>(opened.data() + k) >= kPrime) return false;
  return true;
}

std::size_t element_bytes(Ring ring) {
  switch (ring) {
    case Ring::kBits:
    case Ring::kGf256:
    case Ring::kZ2_8: return 1;
    case Ring::kZ2_16: return 2;
    case Ring::kZ2_32: return 4;
    case Ring::kZ2_64:
    case Ring::kF61: return 8;
    case Ring::kGf128: return kGf128Bytes;
  }
  return 0;
}

const char* ring_name(Ring ring) {
  switch (ring) {
    case Ring::kBits: return "bits";
    case Ring::kGf256: return "GF(2^8)";
    case Ring::kGf128: return "GF(2^128)";
    case Ring::kZ2_8: return "Z/2^8";
    case Ring::kZ2_16: return "Z/2^16";
    case Ring::kZ2_32: return "Z/2^32";
    case Ring::kZ2_64: return "Z/2^64";
    case Ring::kF61: return "Z/(2^61-1)";
  }
  return "no ring";
}

bool is_binary(Ring ring) {
  return ring == Ring::kBits || ring == Ring::kGf256 || ring == Ring::kGf128;
}

Bytes encode(Ring ring, const std::vector<std::uint64_t>& values) {
  const std::size_t each = element_bytes(ring);
  Bytes out(each * values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::uint64_t value = ring == Ring::kF61 ? reduced(values[k]) : values[k];
    std::memcpy(out.data() + each * k, &value, std::min<std::size_t>(each, 8));
  }
  return out;
}

std::vector<std::uint64_t> decode(Ring ring, ByteSpan octets) {
  const std::size_t each = element_bytes(ring);
  if (each == 0 || each > 8 || octets.size() % each != 0) return {};
  std::vector<std::uint64_t> values(octets.size() / each);
  for (std::size_t k = 0; k < values.size(); ++k)
    std::memcpy(&values[k], octets.data() + each * k, each);
  return values;
}

}  // namespace tkdc::mpc
