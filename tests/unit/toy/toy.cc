// SPDX-License-Identifier: Apache-2.0
#include "toy.h"

#include "field/gf128.h"
#include "protocol/clear.h"

namespace tkdc::test {

// Unlike each other, and the same everywhere: enough for a toy.
SharedBytes Toy::random(std::size_t bytes) { return known(Bytes(bytes, ++drawn_)); }

Task<Bytes> Toy::open(SharedBytes x) {
  const SecretVector lacking = co_await lane_.pass(x.component[1]);
  xor_bytes(x.component[0].data(), x.component[1].data(), x.size());
  xor_bytes(x.component[0].data(), lacking.data(), x.size());
  co_return Bytes(x.component[0].begin(), x.component[0].end());
}

Task<SharedBytes> Toy::compute(Unit unit, const SharedBytes& held, SharedBytes data, Work) {
  const Bytes with = co_await open(held);
  const Bytes value = co_await open(std::move(data));
  co_return known(compute_clear(unit, with, SecretVector(value.begin(), value.end())));
}

Task<SharedBytes> Toy::inner_products(std::vector<InnerProduct> pairs) {
  Bytes sums(kGf128Bytes * pairs.size());
  std::uint8_t* sum = sums.data();
  for (InnerProduct& pair : pairs) {
    const Bytes a = co_await open(std::move(pair.a));
    const Bytes b = co_await open(std::move(pair.b));
    for (std::size_t k = 0; k < a.size(); k += kGf128Bytes)
      gf128_multiply_add(sum, a.data() + k, b.data() + k);
    sum += kGf128Bytes;
  }
  co_return known(sums);
}

Task<void> Toy::verified() { co_return; }

}  // namespace tkdc::test
