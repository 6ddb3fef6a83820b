// SPDX-License-Identifier: Apache-2.0
// 32-bit words of many instances on shares, and the wire form of a layer: which bits of which words
// it carries. SHA-1 and SHA-2 compute with them.
//
// A Words holds one word of each instance, both components. All operations
// loop over the instances, so that the compiler makes vectors of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/secret.h"
#include "rep3/rep3.h"

namespace tkdc::bits {

using Column = std::vector<std::uint32_t, WipingAllocator<std::uint32_t>>;

struct Words {
  Column x, y;  // components i and i+1, one entry per instance
  explicit Words(std::size_t instances = 0) : x(instances), y(instances) {}
  std::size_t instances() const { return x.size(); }
};

inline Column& column(Words& words, int c) { return c == 0 ? words.x : words.y; }
inline const Column& column(const Words& words, int c) { return c == 0 ? words.x : words.y; }

inline std::uint32_t load_be(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}
inline void store_be(std::uint8_t* p, std::uint32_t v) {
  for (int k = 0; k < 4; ++k) p[k] = static_cast<std::uint8_t>(v >> (24 - 8 * k));
}
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

// A product of a layer as its claim needs it.
struct Product {
  Words left, right;
};

// One word of a layer's message: bits [low, high] of `terms`, in whole octets.
// terms: this party's part of the sum of the products and linear summands.
class Field {
 public:
  Field(int low_bit, int high_bit, Words& out, bool record)
      : low(low_bit), high(high_bit), terms(out.instances()), result(&out), record_(record),
        linear(record ? out.instances() : 0) {}

  void add_product(const Words& a, const Words& b) {
    for (std::size_t n = 0; n < terms.size(); ++n)
      terms[n] ^= (a.x[n] & (b.x[n] ^ b.y[n])) ^ (a.y[n] & b.x[n]);
    if (record_) products.push_back({a, b});
  }
  void add_linear(const Words& a) {
    for (std::size_t n = 0; n < terms.size(); ++n) terms[n] ^= a.x[n];
    if (record_) add(linear, a);
  }

  std::size_t octets() const { return static_cast<std::size_t>(high - low) / 8 + 1; }
  std::uint32_t mask() const {
    std::uint32_t up_to_high = high == 31 ? ~0u : (1u << (high + 1)) - 1;
    return up_to_high & ~((1u << low) - 1);
  }

  int low, high;
  Column terms;
  Words* result;  // gets the shared bits, the others 0

 private:
  bool record_;

 public:
  // With recording only: what the result is promised to be.
  std::vector<Product> products;
  Words linear;
};

// The fields of one layer, in the order of the message.
class Fields {
 public:
  explicit Fields(bool record) : record_(record) {}
  Field& add(int low, int high, Words& out) { return all.emplace_back(low, high, out, record_); }
  std::vector<Field> all;

 private:
  bool record_;
};

// The layer's claims (bit_claims.cc).
void record_claims(ClaimLog& log, const Fields& fields);
// The form of the sum of one product or two; for tests too.
const ClaimShape& bit_claim_shape(std::size_t products);

// Sends the fields' terms as one layer and stores the shares in their results;
// records what was promised.
inline Task<void> send(Rep3& rep3, Fields& fields) {
  std::size_t total = 0;
  for (const Field& f : fields.all) total += f.octets() * f.terms.size();
  Layer layer = rep3.layer(total);
  std::uint8_t* out = layer.mine();
  for (const Field& f : fields.all)
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
  for (const Field& f : fields.all)
    for (std::size_t n = 0; n < f.terms.size(); ++n) {
      take(mine, f, f.result->x[n]);
      take(theirs, f, f.result->y[n]);
    }
  if (rep3.claims() != nullptr) record_claims(*rep3.claims(), fields);
}

}  // namespace tkdc::bits
