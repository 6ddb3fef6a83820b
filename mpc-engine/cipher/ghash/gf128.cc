// SPDX-License-Identifier: Apache-2.0
#include "cipher/ghash/gf128.h"

namespace tkdc {

namespace {

void record_claims(ClaimLog& log, std::vector<InnerProduct> pairs, const SharedBytes& sums) {
  for (std::size_t k = 0; k < pairs.size(); ++k)
    log.add(FieldClaim(std::move(pairs[k].a), std::move(pairs[k].b),
                       sums.slice(kGf128Bytes * k, kGf128Bytes)));
}

}  // namespace

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
  if (rep3.claims() != nullptr) record_claims(*rep3.claims(), std::move(pairs), result);
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
  x.resize((x.size() + kGf128Bytes - 1) / kGf128Bytes * kGf128Bytes);
  SharedBytes random = rep3.random(x.size());
  std::vector<InnerProduct> product;
  product.emplace_back(std::move(x), std::move(random));
  SharedBytes masked = co_await gf128_inner_products(rep3, std::move(product));
  co_await rep3.verified();
  Bytes opened = co_await rep3.open(masked);
  co_return sodium_is_zero(opened.data(), opened.size()) == 1;
}

}  // namespace tkdc
