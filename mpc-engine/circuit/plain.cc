// SPDX-License-Identifier: Apache-2.0
#include "circuit/plain.h"

namespace tkdc::circuit {

SecretSlices slices_of(std::span<const Bytes> instances) {
  assert(!instances.empty() && instances.size() <= kInstances);
  SecretSlices out(8 * instances[0].size());
  for (std::size_t n = 0; n < instances.size(); ++n) {
    assert(instances[n].size() == instances[0].size());
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] |= (Slice{instances[n][k / 8]} >> k % 8 & 1) << n;
  }
  return out;
}

SecretSlices slices_of(ByteSpan octets) {
  SecretSlices out(8 * octets.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = Slice{0} - (Slice{octets[k / 8]} >> k % 8 & 1);
  return out;
}

SecretVector octets_of(std::span<const Slice> slices, std::size_t instance) {
  assert(instance < kInstances);
  SecretVector out((slices.size() + 7) / 8);
  for (std::size_t k = 0; k < slices.size(); ++k)
    out[k / 8] |= static_cast<std::uint8_t>((slices[k] >> instance & 1) << k % 8);
  return out;
}

}  // namespace tkdc::circuit
