// SPDX-License-Identifier: Apache-2.0
#include "lut/demux.h"

#include <algorithm>
#include <string>

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

// Of up to four bits, the paper's protocol.
Result<Labels> in_a_chain(Dealer& dealer, std::span<const Label> bits, std::size_t width) {
  const std::size_t count = bits.size() / width, all = std::size_t{1} << width;
  Labels out(count * all), turns(count);
  for (std::size_t k = 0; k < count; ++k) {
    out[k * all] = dealer.part() ^ bits[k * width];
    out[k * all + 1] = bits[k * width];
  }
  for (std::size_t step = 1; step < width; ++step) {
    const std::size_t places = std::size_t{1} << step;
    for (std::size_t k = 0; k < count; ++k) turns[k] = bits[k * width + step];
    auto products = multiply(dealer, {1, places - 1}, turns, without_first(out, places, all));
    if (!products) return products;
    for (std::size_t k = 0; k < count; ++k) {
      const auto made = std::span(*products).subspan(k * (places - 1), places - 1);
      Label* e = &out[k * all];
      e[places] = turns[k] ^ sum_of(made);
      std::copy(made.begin(), made.end(), e + places + 1);
      for (std::size_t j = 0; j < places; ++j) e[j] = e[j] ^ e[places + j];
    }
  }
  return out;
}

}  // namespace

Result<Labels> demux(Dealer& dealer, std::span<const Label> bits, std::size_t width) {
  if ((width < 1 || width > 4) && width != 6 && width != 8)
    return fail("lut: one-hot vectors of " + std::to_string(width) + " bits are not built");
  if (width <= 4) return in_a_chain(dealer, bits, width);
  // The halves of a number stand behind each other: its low one first.
  auto halves = in_a_chain(dealer, bits, width / 2);
  if (!halves) return halves;
  const std::size_t count = bits.size() / width, half = std::size_t{1} << width / 2,
                    side = half - 1;  // of a vector without its first place
  Labels q, p;
  for (std::size_t k = 0; k < count; ++k) {
    const Label* low = &(*halves)[2 * k * half];
    p.insert(p.end(), low + 1, low + half);
    q.insert(q.end(), low + half + 1, low + 2 * half);
  }
  auto products = multiply(dealer, {side, side}, q, p);
  if (!products) return products;
  Labels out(count * half * half), rest(half);  // of each column, what its row 0 gets
  for (std::size_t k = 0; k < count; ++k) {
    Label* e = &out[k * half * half];
    const Label* low = &(*halves)[2 * k * half];
    std::copy_n(low, half, rest.begin());
    for (std::size_t i = 1; i < half; ++i) {
      const auto row = std::span(*products).subspan((k * side + i - 1) * side, side);
      std::copy(row.begin(), row.end(), e + i * half + 1);
      e[i * half] = low[half + i] ^ sum_of(row);
      for (std::size_t j = 0; j < half; ++j) rest[j] = rest[j] ^ e[i * half + j];
    }
    std::copy_n(rest.begin(), half, e);
  }
  return out;
}

}  // namespace tkdc::lut
