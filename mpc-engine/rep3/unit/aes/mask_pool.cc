// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/aes/mask_pool.h"

#include <algorithm>

#include "protocol/replicated.h"
#include "rep3/unit/aes/one_hot.h"
#include "rep3/unit/bits/words.h"

namespace tkdc {
namespace {

constexpr std::size_t kStateBytes = 16, kNibbles = 2, kMonomials = 16;
constexpr std::size_t kPlaneBytes = kStateBytes / 8;  // of one state

// z = x y, bit by bit, of monomials of one nibble.
struct Product {
  std::size_t x, y, z;
};
constexpr Product kFirst[] = {{1, 2, 3}, {1, 4, 5}, {2, 4, 6}, {1, 8, 9}, {2, 8, 10}, {4, 8, 12}};
constexpr Product kSecond[] = {{3, 4, 7}, {3, 8, 11}, {5, 8, 13}, {6, 8, 14}, {3, 12, 15}};

// Planes of bits, one bit for each octet of all states: [nibble][monomial], and
// [high][low] of both nibbles.
struct Planes {
  SharedBytes of_nibble[kNibbles][kMonomials];
  SharedBytes of_both[kMonomials][kMonomials];
};

struct PlaneProduct {
  const SharedBytes *x, *y;
  SharedBytes* z;
};

// One layer: the first `bytes` octets of each product.
Task<void> multiply(Rep3& rep3, const std::vector<PlaneProduct>& products, std::size_t bytes) {
  Layer layer = rep3.layer(products.size() * bytes);
  std::uint8_t* out = layer.mine();
  for (const PlaneProduct& product : products) {
    const std::uint8_t *x0 = product.x->component[0].data(), *x1 = product.x->component[1].data();
    const std::uint8_t *y0 = product.y->component[0].data(), *y1 = product.y->component[1].data();
    for (std::size_t k = 0; k < bytes; ++k)
      out[k] = static_cast<std::uint8_t>((x0[k] & (y0[k] ^ y1[k])) ^ (x1[k] & y0[k]));
    out += bytes;
  }
  co_await layer;
  std::size_t at = 0;
  for (const PlaneProduct& product : products) {
    product.z->component[0].assign(layer.mine() + at, layer.mine() + at + bytes);
    product.z->component[1].assign(layer.theirs() + at, layer.theirs() + at + bytes);
    at += bytes;
    if (rep3.claims() == nullptr) continue;
    ClaimRows::Rows rows{};
    for (int c = 0; c < 2; ++c) {
      rows[c][0] = product.x->component[c].data();
      rows[c][1] = product.y->component[c].data();
      rows[c][2] = product.z->component[c].data();
    }
    rep3.claims()->add(bits::bit_claim_shape(1), bytes, rows);
  }
}

template <std::size_t kCount>
std::vector<PlaneProduct> of_nibbles(Planes& planes, const Product (&products)[kCount]) {
  std::vector<PlaneProduct> out;
  for (auto& plane : planes.of_nibble)
    for (const Product& product : products)
      out.push_back({&plane[product.x], &plane[product.y], &plane[product.z]});
  return out;
}

std::vector<PlaneProduct> of_both(Planes& planes) {
  std::vector<PlaneProduct> out;
  for (std::size_t high = 1; high < kMonomials; ++high)
    for (std::size_t low = 1; low < kMonomials; ++low)
      out.push_back(
          {&planes.of_nibble[1][high], &planes.of_nibble[0][low], &planes.of_both[high][low]});
  return out;
}

// Octet k's bit of a plane.
unsigned bit_at(const SecretVector& plane, std::size_t k) { return plane[k / 8] >> k % 8 & 1u; }

void slice(const SharedBytes& r, Planes& planes) {
  for (std::size_t b = 0; b < 8; ++b) {
    SharedBytes& plane = planes.of_nibble[b / 4][std::size_t{1} << b % 4];
    plane = SharedBytes(r.size() / 8);
    for (int c = 0; c < 2; ++c)
      for (std::size_t k = 0; k < r.size(); ++k)
        plane.component[c][k / 8] = static_cast<std::uint8_t>(
            plane.component[c][k / 8] | (r.component[c][k] >> b & 1u) << k % 8);
  }
}

std::uint16_t monomials_at(const Planes& planes, std::size_t nibble, int c, unsigned one,
                           std::size_t k) {
  unsigned all = one;
  for (std::size_t m = 1; m < kMonomials; ++m)
    all |= bit_at(planes.of_nibble[nibble][m].component[c], k) << m;
  return static_cast<std::uint16_t>(all);
}

// The vectors of the octets of state number `state`.
LayerMask mask_of(const Planes& planes, const SharedBytes& r, std::size_t state, bool whole,
                  int party) {
  const std::size_t bytes = whole ? LayerMask::kWholeBytes : LayerMask::kHalvesBytes;
  LayerMask mask{r.slice(state * kStateBytes, kStateBytes), SharedBytes(kStateBytes * bytes)};
  for (int c = 0; c < 2; ++c) {
    const unsigned one = c == constant_component(party) ? 1 : 0;
    for (std::size_t k = 0; k < kStateBytes; ++k) {
      const std::size_t at = state * kStateBytes + k;
      std::uint8_t* to = mask.vectors.component[c].data() + k * bytes;
      const std::uint16_t low = monomials_at(planes, 0, c, one, at);
      const std::uint16_t high = monomials_at(planes, 1, c, one, at);
      if (!whole) {
        std::uint16_t halves[2] = {one_hot::vector_of_nibble(low), one_hot::vector_of_nibble(high)};
        std::memcpy(to, halves, sizeof halves);
        sodium_memzero(halves, sizeof halves);
        continue;
      }
      std::uint64_t vector[one_hot::kVectorWords] = {low};
      for (std::size_t h = 1; h < kMonomials; ++h) {
        std::uint64_t row = high >> h & 1u;
        for (std::size_t l = 1; l < kMonomials; ++l)
          row |= std::uint64_t{bit_at(planes.of_both[h][l].component[c], at)} << l;
        vector[h / 4] |= row << 16 * (h % 4);
      }
      one_hot::vector_of_octet(vector);
      static_assert(sizeof vector == LayerMask::kWholeBytes);
      std::memcpy(to, vector, sizeof vector);
      sodium_memzero(vector, sizeof vector);
    }
  }
  return mask;
}

std::size_t room(std::size_t wanted, std::size_t capacity, std::size_t taken) {
  return std::min(wanted, capacity - std::min(capacity, taken));
}

}  // namespace

Task<void> MaskPool::fill(Count wanted) {
  const std::size_t halves = room(wanted.halves, capacity_.halves, halves_.size() + coming_.halves);
  const std::size_t whole = room(wanted.whole, capacity_.whole, whole_.size() + coming_.whole);
  const std::size_t states = halves + whole;
  if (states == 0) co_return;
  coming_.halves += halves;
  coming_.whole += whole;

  SharedBytes r = rep3_.random(states * kStateBytes);
  // Those that become whole stand first.
  auto planes = std::make_unique<Planes>();
  slice(r, *planes);
  std::vector<PlaneProduct> products = of_nibbles(*planes, kFirst);
  co_await multiply(rep3_, products, states * kPlaneBytes);
  products = of_nibbles(*planes, kSecond);
  co_await multiply(rep3_, products, states * kPlaneBytes);
  if (whole > 0) {
    products = of_both(*planes);
    co_await multiply(rep3_, products, whole * kPlaneBytes);
  }
  co_await rep3_.verified();

  for (std::size_t state = 0; state < states; ++state)
    (state < whole ? whole_ : halves_)
        .push_back(mask_of(*planes, r, state, state < whole, rep3_.party()));
  coming_.halves -= halves;
  coming_.whole -= whole;
  made_ += states;
}

LayerMask MaskPool::take_from(std::deque<LayerMask>& masks, std::size_t count) {
  LayerMask out;
  for (; count > 0; --count) {
    out.r.append(masks.front().r);
    out.vectors.append(masks.front().vectors);
    masks.pop_front();
  }
  return out;
}

std::vector<LayerMask> MaskPool::take(std::size_t blocks, int rounds) {
  assert(has(needed(blocks, rounds)));
  std::vector<LayerMask> out;
  for (int round = 1; round < rounds; ++round) out.push_back(take_from(halves_, blocks));
  out.push_back(take_from(whole_, blocks));
  rep3_.took(blocks * static_cast<std::size_t>(rounds));
  return out;
}

}  // namespace tkdc
