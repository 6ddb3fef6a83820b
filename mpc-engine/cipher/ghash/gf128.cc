// SPDX-License-Identifier: Apache-2.0
#include "cipher/ghash/gf128.h"

namespace tkdc {

Task<SharedBytes> gf128_powers(Protocol& protocol, SharedBytes x, std::size_t count) {
  SharedBytes powers = std::move(x);
  for (std::size_t known = 1; known < count; known *= 2) {
    const SharedBytes top = powers.slice(kGf128Bytes * (known - 1), kGf128Bytes);
    std::vector<InnerProduct> products;
    for (std::size_t j = 0; j < known; ++j)
      products.emplace_back(top, powers.slice(kGf128Bytes * j, kGf128Bytes));
    SharedBytes more = co_await protocol.inner_products(std::move(products));
    powers.append(more);
  }
  co_return powers;
}

Task<bool> is_zero(Protocol& protocol, SharedBytes x) {
  x.resize((x.size() + kGf128Bytes - 1) / kGf128Bytes * kGf128Bytes);
  SharedBytes random = protocol.random(x.size());
  std::vector<InnerProduct> product;
  product.emplace_back(std::move(x), std::move(random));
  SharedBytes masked = co_await protocol.inner_products(std::move(product));
  Bytes opened = co_await protocol.open(std::move(masked));
  co_return sodium_is_zero(opened.data(), opened.size()) == 1;
}

}  // namespace tkdc
