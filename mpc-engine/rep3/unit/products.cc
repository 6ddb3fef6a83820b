// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/products.h"

#include "field/gf128.h"

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

}  // namespace tkdc
