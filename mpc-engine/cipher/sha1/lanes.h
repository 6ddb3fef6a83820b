// SPDX-License-Identifier: Apache-2.0
// 32-bit words of many SHA-1 instances on shares, and the wire form of a
// layer: which bits of which words it carries.
//
// A Words holds one word of each instance, both components. All operations
// loop over the instances, so that the compiler makes vectors of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/secret.h"
#include "rep3/rep3.h"

namespace tkdc::sha1 {

using Column = std::vector<std::uint32_t, WipingAllocator<std::uint32_t>>;

struct Words {
  Column x, y;  // components i and i+1, one entry per instance
  explicit Words(std::size_t instances = 0) : x(instances), y(instances) {}
  std::size_t instances() const { return x.size(); }
};

inline std::uint32_t rotl(std::uint32_t v, int k) { return v << k | v >> (32 - k); }

template <class F>
inline Words map(const Words& a, F f) {
  Words r(a.instances());
  for (std::size_t n = 0; n < a.instances(); ++n) r.x[n] = f(a.x[n]);
  for (std::size_t n = 0; n < a.instances(); ++n) r.y[n] = f(a.y[n]);
  return r;
}
inline Words rotl(const Words& a, int k) {
  return map(a, [k](std::uint32_t v) { return rotl(v, k); });
}
inline Words shl(const Words& a, int k) {
  return map(a, [k](std::uint32_t v) { return v << k; });
}
inline void add(Words& r, const Words& a) {
  for (std::size_t n = 0; n < a.instances(); ++n) r.x[n] ^= a.x[n];
  for (std::size_t n = 0; n < a.instances(); ++n) r.y[n] ^= a.y[n];
}
inline Words operator^(Words a, const Words& b) {
  add(a, b);
  return a;
}

// This party's terms of bitwise products, added to `terms`.
inline void add_product(Column& terms, const Words& a, const Words& b) {
  for (std::size_t n = 0; n < terms.size(); ++n)
    terms[n] ^= (a.x[n] & (b.x[n] ^ b.y[n])) ^ (a.y[n] & b.x[n]);
}
// Linear terms: party i's own component.
inline void add_linear(Column& terms, const Words& a) {
  for (std::size_t n = 0; n < terms.size(); ++n) terms[n] ^= a.x[n];
}

// One word of a layer's message: bits [low, high] of `terms`, in whole octets.
struct Field {
  int low, high;
  Column terms;
  Words* result;  // gets the shared bits, the others 0

  Field(int low_bit, int high_bit, Words& out)
      : low(low_bit), high(high_bit), terms(out.instances()), result(&out) {}
  std::size_t octets() const { return static_cast<std::size_t>(high - low) / 8 + 1; }
  std::uint32_t mask() const {
    std::uint32_t up_to_high = high == 31 ? ~0u : (1u << (high + 1)) - 1;
    return up_to_high & ~((1u << low) - 1);
  }
};

// Sends the fields' terms as one layer and stores the shares in their results.
inline Task<void> send(Rep3& rep3, std::vector<Field>& fields) {
  std::size_t total = 0;
  for (const Field& f : fields) total += f.octets() * f.terms.size();
  Layer layer = rep3.layer(total);
  std::uint8_t* out = layer.mine();
  for (const Field& f : fields)
    for (std::uint32_t term : f.terms) {
      std::uint32_t bits = (term & f.mask()) >> f.low;
      for (std::size_t k = 0; k < f.octets(); ++k)
        *out++ = static_cast<std::uint8_t>(bits >> 8 * k);
    }
  co_await layer;
  auto take = [](const std::uint8_t*& in, const Field& f, std::uint32_t& word) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < f.octets(); ++k) bits |= std::uint32_t{*in++} << 8 * k;
    word = (bits << f.low) & f.mask();
  };
  const std::uint8_t* mine = layer.mine();
  const std::uint8_t* theirs = layer.theirs();
  for (const Field& f : fields)
    for (std::size_t n = 0; n < f.terms.size(); ++n) {
      take(mine, f, f.result->x[n]);
      take(theirs, f, f.result->y[n]);
    }
}

}  // namespace tkdc::sha1
