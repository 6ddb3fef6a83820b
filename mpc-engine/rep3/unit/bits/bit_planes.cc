// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/bits/bit_planes.h"

#include "base/ivdep.h"

namespace tkdc::bits {
namespace {

enum Row : std::size_t { kX, kY, kZ };

}  // namespace

void Planes::add(std::size_t to, std::size_t a, std::size_t b) {
  const std::uint64_t *x = plane(a), *y = plane(b);
  std::uint64_t* out = plane(to);
  const std::size_t words = 2 * stride_;
  TKDC_IVDEP
  for (std::size_t i = 0; i < words; ++i) out[i] = x[i] ^ y[i];
}

void Planes::add(std::size_t to, std::size_t a, std::size_t b, std::size_t c) {
  const std::uint64_t *x = plane(a), *y = plane(b), *z = plane(c);
  std::uint64_t* out = plane(to);
  const std::size_t words = 2 * stride_;
  TKDC_IVDEP
  for (std::size_t i = 0; i < words; ++i) out[i] = x[i] ^ y[i] ^ z[i];
}

void Planes::add(std::size_t to, std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
  const std::uint64_t *w = plane(a), *x = plane(b), *y = plane(c), *z = plane(d);
  std::uint64_t* out = plane(to);
  const std::size_t words = 2 * stride_;
  TKDC_IVDEP
  for (std::size_t i = 0; i < words; ++i) out[i] = w[i] ^ x[i] ^ y[i] ^ z[i];
}

PlaneProducts::PlaneProducts(std::size_t columns, std::size_t most)
    : columns_(columns), stride_((columns + kPlaneBits - 1) / kPlaneBits) {
  into_.reserve(most);
  // A plane that starts within a word may reach one word more.
  for (auto& component : rows_)
    for (PlaneWords& row : component) row.resize((most * columns) / kPlaneBits + 2);
}

void PlaneProducts::add(Plane a, Plane b, Plane c, Plane d, Plane to) {
  const std::size_t at = into_.size() * columns_, shift = at % kPlaneBits;
  const std::size_t stride = stride_;  // no loop reads it again
  assert(into_.size() < into_.capacity());
  into_.push_back(to);
  // A word's lowest plane sets it, so that nothing of the layer before is left.
  for (int i = 0; i < 2; ++i, a += stride, b += stride, c += stride, d += stride) {
    std::uint64_t* x = take_words(kX, i, at);
    std::uint64_t* y = take_words(kY, i, at);
    if (shift == 0) {
      TKDC_IVDEP
      for (std::size_t w = 0; w < stride; ++w) x[w] = a[w] ^ b[w];
      TKDC_IVDEP
      for (std::size_t w = 0; w < stride; ++w) y[w] = c[w] ^ d[w];
      continue;
    }
    for (std::size_t w = 0; w < stride; ++w) {
      const std::uint64_t left = a[w] ^ b[w], right = c[w] ^ d[w];
      x[w] |= left << shift;
      y[w] |= right << shift;
      x[w + 1] = left >> (kPlaneBits - shift);
      y[w + 1] = right >> (kPlaneBits - shift);
    }
  }
}

void PlaneProducts::write(std::uint8_t* message) {
  const std::uint64_t *x0 = rows_[0][kX].data(), *x1 = rows_[1][kX].data();
  const std::uint64_t *y0 = rows_[0][kY].data(), *y1 = rows_[1][kY].data();
  std::uint64_t* z = rows_[0][kZ].data();
  const std::size_t words = used_words();
  for (std::size_t w = 0; w < words; ++w) z[w] = (x0[w] & (y0[w] ^ y1[w])) ^ (x1[w] & y0[w]);
  std::memcpy(message, z, bytes());
}

void PlaneProducts::read(const std::uint8_t* mine, const std::uint8_t* theirs, ClaimLog* claims) {
  const std::uint8_t* const got[2] = {mine, theirs};
  const std::size_t octets = bytes();
  ClaimRows::Rows rows{};
  for (int c = 0; c < 2; ++c) {
    std::memcpy(rows_[c][kZ].data(), got[c], octets);
    for (const Row row : {kX, kY, kZ})
      rows[c][row] = reinterpret_cast<const std::uint8_t*>(rows_[c][row].data());
  }
  if (claims != nullptr && octets > 0) claims->add(bit_claim_shape(1), octets, rows);
  const std::size_t stride = stride_, rest = columns_ % kPlaneBits;
  const std::uint64_t last = rest == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
  for (std::size_t k = 0; k < into_.size(); ++k) {
    const std::size_t at = k * columns_, shift = at % kPlaneBits;
    for (int c = 0; c < 2; ++c) {
      const std::uint64_t* z = take_words(kZ, c, at);
      std::uint64_t* to = into_[k] + static_cast<std::size_t>(c) * stride;
      if (shift == 0) TKDC_IVDEP
      for (std::size_t w = 0; w + 1 < stride; ++w) to[w] ^= z[w];
      else for (std::size_t w = 0; w + 1 < stride; ++w) to[w] ^=
          z[w] >> shift | z[w + 1] << (kPlaneBits - shift);
      const std::size_t w = stride - 1;
      const std::uint64_t beyond = shift == 0 ? 0 : z[w + 1] << (kPlaneBits - shift);
      to[w] ^= (z[w] >> shift | beyond) & last;
    }
  }
}

}  // namespace tkdc::bits
