// SPDX-License-Identifier: Apache-2.0
// One party's share of a vector of ring elements, and what can be done with it
// without a message.
//
// Sharing: Araki, Furukawa, Lindell, Nof, Ohara 2016, section 2.1 for bits and
// section 2.3 for Z/2^n and fields: x = x_0 + x_1 + x_2 in the ring, party i
// holds x_i and x_{i+1} (the same scheme in the usual notation).
//
// Secret: the content. Not printable, wiped when freed. A Shares object belongs
// to the Party that made it; using it with another one gives wrong results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tkdc/result.h"

namespace tkdc::mpc {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

// An element's octets, in the clear and on the wire, are little-endian; those of
// kGf128 in GCM's order (SP 800-38D, section 6.3).
enum class Ring : std::uint8_t {
  kBits = 1,  // GF(2)^8: an octet is eight bits, products are AND
  kGf256,     // the AES field (FIPS 197, section 4.2)
  kGf128,     // GF(2^128) of GCM, 16 octets
  kZ2_8,      // Z/2^8, Z/2^16, ..: machine words
  kZ2_16,
  kZ2_32,
  kZ2_64,
  kF61,  // integers modulo the prime 2^61 - 1, 8 octets
};

// 0 for a value that is no Ring.
std::size_t element_bytes(Ring ring);
const char* ring_name(Ring ring);
// Whether sums are XOR: such vectors can be read as one another's octets, and
// their products are verified in malicious mode. Others are semi-honest only.
bool is_binary(Ring ring);

// Integers as elements, for rings of at most 64 bits: reduced into the ring.
Bytes encode(Ring ring, const std::vector<std::uint64_t>& values);
// Empty when `octets` is no whole number of elements of at most 64 bits.
std::vector<std::uint64_t> decode(Ring ring, ByteSpan octets);

class Shares {
 public:
  Shares();  // an empty vector of kBits
  Shares(const Shares& other);
  Shares(Shares&& other) noexcept;
  Shares& operator=(const Shares& other);
  Shares& operator=(Shares&& other) noexcept;
  ~Shares();

  Ring ring() const;
  std::size_t size() const;   // elements
  std::size_t bytes() const;  // of one component: size() * element_bytes(ring())

  // For the library.
  struct State;
  explicit Shares(std::unique_ptr<State> state);
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// Element by element. Error: different rings or sizes.
Result<Shares> add(const Shares& a, const Shares& b);
Result<Shares> subtract(const Shares& a, const Shares& b);
// Elements [first, first + count). Error: beyond the end.
Result<Shares> slice(const Shares& a, std::size_t first, std::size_t count);
// b behind a. Error: different rings.
Result<Shares> append(const Shares& a, const Shares& b);
// The same octets in another binary ring. Error: not binary, or no whole elements.
Result<Shares> as_ring(const Shares& a, Ring ring);

}  // namespace tkdc::mpc
