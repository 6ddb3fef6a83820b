// SPDX-License-Identifier: Apache-2.0
// Octet strings on shares, as one party holds them, and what can be done with them alone.
//
// A value is two components, each as long as the value; what they mean is the protocol's. XOR and
// all other linear maps act on each component. Everything here is secret; nothing here
// communicates.
#pragma once

#include <cassert>
#include <cstring>

#include "base/secret.h"

namespace tkdc {

// Members are defined in shared_bytes.cc on purpose: g++ 12 at -O2, given their
// bodies inside a coroutine, reads a frame's members before they are written
// (found by valgrind; gone at -O1). Behind calls it cannot.
struct SharedBytes {
  SecretVector component[2];

  SharedBytes();
  explicit SharedBytes(std::size_t bytes);  // zeros
  SharedBytes(const SharedBytes& other);
  SharedBytes(SharedBytes&& other) noexcept;
  SharedBytes& operator=(const SharedBytes& other);
  SharedBytes& operator=(SharedBytes&& other) noexcept;
  ~SharedBytes();

  std::size_t size() const { return component[0].size(); }
  void append(const SharedBytes& tail);
  // Octets [offset, offset + bytes) as a sharing of their own.
  SharedBytes slice(std::size_t offset, std::size_t bytes) const;
  void resize(std::size_t bytes);
};

inline void xor_bytes(std::uint8_t* out, const std::uint8_t* in, std::size_t bytes) {
  // At -O2 g++ 12 leaves a loop of unknown length one octet at a time.
  typedef std::uint64_t Words __attribute__((vector_size(32)));
  for (; bytes >= sizeof(Words); bytes -= sizeof(Words)) {
    Words a, b;
    std::memcpy(&a, out, sizeof a);
    std::memcpy(&b, in, sizeof b);
    a ^= b;
    std::memcpy(out, &a, sizeof a);
    out += sizeof a;
    in += sizeof b;
  }
  for (std::size_t k = 0; k < bytes; ++k) out[k] ^= in[k];
}

// out[offset ..] ^= in, component by component.
inline void xor_into(SharedBytes& out, const SharedBytes& in, std::size_t offset = 0) {
  assert(offset + in.size() <= out.size());
  for (int c = 0; c < 2; ++c)
    xor_bytes(out.component[c].data() + offset, in.component[c].data(), in.size());
}

}  // namespace tkdc
