// SPDX-License-Identifier: Apache-2.0
#include "lut/demux.h"

#include <algorithm>

namespace tkdc::lut {
namespace {

Label sum_of(std::span<const Label> labels) {
  Label out;
  for (const Label& one : labels) out = out ^ one;
  return out;
}

// All of a one-hot vector but its first place, for products.
Labels without_first(std::span<const Label> vectors, std::size_t places, std::size_t stride) {
  Labels out;
  out.reserve(vectors.size() / stride * (places - 1));
  for (std::size_t k = 0; k < vectors.size(); k += stride)
    for (std::size_t j = 1; j < places; ++j) out.push_back(vectors[k + j]);
  return out;
}

}  // namespace

Result<Labels> demux_four(Dealer& dealer, std::span<const Label> bits) {
  constexpr std::size_t kBits = 4, kPlaces = 16;
  const std::size_t count = bits.size() / kBits;
  Labels out(count * kPlaces), turns(count);
  for (std::size_t k = 0; k < count; ++k) {
    out[k * kPlaces] = dealer.part() ^ bits[k * kBits];
    out[k * kPlaces + 1] = bits[k * kBits];
  }
  for (std::size_t step = 1; step < kBits; ++step) {
    const std::size_t places = std::size_t{1} << step;
    for (std::size_t k = 0; k < count; ++k) turns[k] = bits[k * kBits + step];
    auto products = multiply(dealer, {1, places - 1}, turns, without_first(out, places, kPlaces));
    if (!products) return products;
    for (std::size_t k = 0; k < count; ++k) {
      const auto made = std::span(*products).subspan(k * (places - 1), places - 1);
      Label* e = &out[k * kPlaces];
      e[places] = turns[k] ^ sum_of(made);
      std::copy(made.begin(), made.end(), e + places + 1);
      for (std::size_t j = 0; j < places; ++j) e[j] = e[j] ^ e[places + j];
    }
  }
  return out;
}

Result<Labels> demux_eight(Dealer& dealer, std::span<const Label> bits) {
  constexpr std::size_t kHalf = 16, kProducts = kHalf - 1;
  // The halves of a number stand behind each other: its low one first.
  auto halves = demux_four(dealer, bits);
  if (!halves) return halves;
  const std::size_t count = bits.size() / 8;
  Labels q, p;
  for (std::size_t k = 0; k < count; ++k) {
    const Label* low = &(*halves)[2 * k * kHalf];
    p.insert(p.end(), low + 1, low + kHalf);
    q.insert(q.end(), low + kHalf + 1, low + 2 * kHalf);
  }
  auto products = multiply(dealer, {kProducts, kProducts}, q, p);
  if (!products) return products;
  Labels out(count * kHalf * kHalf);
  for (std::size_t k = 0; k < count; ++k) {
    Label* e = &out[k * kHalf * kHalf];
    const Label* low = &(*halves)[2 * k * kHalf];
    Label rest[kHalf];  // of each column, what its row 0 gets
    std::copy_n(low, kHalf, rest);
    for (std::size_t i = 1; i < kHalf; ++i) {
      const auto row = std::span(*products).subspan((k * kProducts + i - 1) * kProducts, kProducts);
      std::copy(row.begin(), row.end(), e + i * kHalf + 1);
      e[i * kHalf] = low[kHalf + i] ^ sum_of(row);
      for (std::size_t j = 0; j < kHalf; ++j) rest[j] = rest[j] ^ e[i * kHalf + j];
    }
    std::copy_n(rest, kHalf, e);
  }
  return out;
}

}  // namespace tkdc::lut
