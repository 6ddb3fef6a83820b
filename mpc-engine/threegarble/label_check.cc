// SPDX-License-Identifier: Apache-2.0
#include "threegarble/label_check.h"

#include "base/now_public.h"

namespace tkdc::threegarble {

bool labels_stand(const garble::Kernel& kernel, const Shape& shape, const CheckedTables& tables,
                  const OpenedM1& a, const OpenedM1& b, ByteSpan x_with_a, ByteSpan x_with_b) {
  garble::RoundKeys keys;
  first_keys(tables.all, keys);
  const std::size_t bytes = shape.in_bits * kCommitmentBytes;
  const ByteSpan commitments = ByteSpan(tables.all).subspan(shape.commitments_at());
  SecretVector of_u(x_with_a.begin(), x_with_a.end()), of_v(x_with_b.begin(), x_with_b.end());
  xor_octets(of_u, b.bits);
  xor_octets(of_v, a.bits);
  std::uint8_t wrong = differs(kernel, keys, 0, a.labels.span(), commitments.first(bytes), of_u);
  wrong = static_cast<std::uint8_t>(wrong | differs(kernel, keys, shape.in_bits, b.labels.span(),
                                                    commitments.subspan(bytes, bytes), of_v));
  // The only bit of all this that decides anything.
  now_public(&wrong, sizeof wrong);
  return wrong == 0;
}

}  // namespace tkdc::threegarble
