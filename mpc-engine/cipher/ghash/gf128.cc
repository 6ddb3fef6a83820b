// SPDX-License-Identifier: Apache-2.0
#include "cipher/ghash/gf128.h"

namespace tkdc {
namespace {

struct Element {
  std::uint64_t high, low;  // high holds the octets 0..7, first bit on top
};

std::uint64_t load_be64(const std::uint8_t* p) {
  std::uint64_t v = 0;
  for (int k = 0; k < 8; ++k) v = v << 8 | p[k];
  return v;
}

void store_be64(std::uint8_t* p, std::uint64_t v) {
  for (int k = 0; k < 8; ++k) p[k] = static_cast<std::uint8_t>(v >> (56 - 8 * k));
}

// Multiplication by the field's x: a shift towards the last bit.
Element times_x(Element v) {
  const std::uint64_t reduce = 0 - (v.low & 1);
  return {v.high >> 1 ^ (reduce & 0xe100000000000000u), v.low >> 1 | v.high << 63};
}

}  // namespace

void gf128_multiply_add(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b) {
  Element v = {load_be64(b), load_be64(b + 8)};
  Element z = {0, 0};
  for (std::uint64_t word : {load_be64(a), load_be64(a + 8)})
    for (int k = 63; k >= 0; --k) {
      const std::uint64_t take = 0 - (word >> k & 1);
      z.high ^= v.high & take;
      z.low ^= v.low & take;
      v = times_x(v);
    }
  store_be64(out, load_be64(out) ^ z.high);
  store_be64(out + 8, load_be64(out + 8) ^ z.low);
}

Task<SharedBytes> gf128_inner_products(Rep3& rep3, std::vector<InnerProduct> pairs) {
  Layer layer = rep3.layer(kGf128Bytes * pairs.size());
  std::uint8_t* out = layer.mine();
  std::memset(out, 0, layer.size());
  for (const InnerProduct& pair : pairs) {
    assert(pair.a.size() == pair.b.size() && pair.a.size() % kGf128Bytes == 0);
    for (std::size_t k = 0; k < pair.a.size(); k += kGf128Bytes) {
      const std::uint8_t* a[2] = {pair.a.component[0].data() + k, pair.a.component[1].data() + k};
      const std::uint8_t* b[2] = {pair.b.component[0].data() + k, pair.b.component[1].data() + k};
      std::uint8_t sum[kGf128Bytes];  // b_i + b_{i+1}
      for (std::size_t j = 0; j < kGf128Bytes; ++j) sum[j] = b[0][j] ^ b[1][j];
      gf128_multiply_add(out, a[0], sum);
      gf128_multiply_add(out, a[1], b[0]);
      sodium_memzero(sum, sizeof sum);
    }
    out += kGf128Bytes;
  }
  co_await layer;
  SharedBytes result;
  result.component[0].assign(layer.mine(), layer.mine() + layer.size());
  result.component[1].assign(layer.theirs(), layer.theirs() + layer.size());
  co_return result;
}

Task<SharedBytes> gf128_powers(Rep3& rep3, SharedBytes x, std::size_t count) {
  SharedBytes powers = std::move(x);
  for (std::size_t known = 1; known < count; known *= 2) {
    const SharedBytes top = powers.slice(kGf128Bytes * (known - 1), kGf128Bytes);
    std::vector<InnerProduct> products;
    for (std::size_t j = 0; j < known; ++j)
      products.emplace_back(top, powers.slice(kGf128Bytes * j, kGf128Bytes));
    SharedBytes more = co_await gf128_inner_products(rep3, std::move(products));
    powers.append(more);
  }
  co_return powers;
}

Task<bool> is_zero(Rep3& rep3, SharedBytes x) {
  assert(x.size() <= kGf128Bytes);
  x.resize(kGf128Bytes);
  std::vector<InnerProduct> product;
  product.emplace_back(std::move(x), rep3.random(kGf128Bytes));
  SharedBytes masked = co_await gf128_inner_products(rep3, std::move(product));
  Bytes opened = co_await rep3.open(masked);
  co_return sodium_is_zero(opened.data(), opened.size()) == 1;
}

}  // namespace tkdc
