// SPDX-License-Identifier: Apache-2.0
#include "lut/norm_tables.h"

#include <algorithm>

#include "field/gf256.h"
#include "lut/huge_pages.h"
#include "lut/kernel.h"
#include "lut/sizes.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kNibble = 4;
using Way = NormTables::Way;

// What stands behind the inversion: the S-box's affine map, or nothing.
constexpr std::uint8_t behind(Way way, std::uint8_t y) {
  return way == Way::kForward ? affine_of_sbox(y) : y;
}

// Where an S-box's labels are: c(s), s, N(s) ⊕ m, c(s) m' by behind(); e; bits of m' and s.
enum Place : std::size_t { kFirst = 0, kProduct = 3, kVector = 4, kMask = 20, kBits = 24 };

constexpr std::uint8_t times_octet(std::uint8_t a, std::uint8_t b) { return gf256_multiply(a, b); }

constexpr std::uint8_t conjugate(std::uint8_t x) {
  for (int k = 0; k < 4; ++k) x = gf256_multiply(x, x);
  return x;
}

constexpr std::uint8_t power(std::uint8_t of, int exponent) {
  std::uint8_t out = 1;
  for (; exponent > 0; --exponent) out = gf256_multiply(out, of);
  return out;
}

struct Tower {
  // 1, w, w², w³ span GF(16); s is of w^j Y for j below 4, then of w^j. x generates with x + 1.
  std::uint8_t w[kNibble] = {}, basis[kOctetBits] = {};
  std::uint8_t conjugates[256] = {}, norms[256] = {};
  std::uint8_t elements[16] = {}, index[256] = {};
  // Factors of labels: (g ⊕ j)^-1; of the bits of m' for c(h); of those of s for f.
  std::uint8_t inverses[16][16] = {};
  struct Behind {
    std::uint8_t of_mask[256][kNibble] = {}, of_bits[256][kOctetBits] = {};
  } behind_of[2];
  // Of the inverse S-box: the affine map's inverse, with its constant; s by the map, of its bits.
  std::uint8_t unmapped[256] = {}, mapped_basis[kOctetBits] = {};

  constexpr Tower() {
    constexpr std::uint8_t kGenerator = 3, kOutside = 2;
    for (std::size_t j = 0; j < kNibble; ++j) {
      w[j] = power(kGenerator, static_cast<int>(17 * j));
      basis[j] = times_octet(w[j], kOutside);
      basis[kNibble + j] = w[j];
    }
    for (unsigned x = 0; x < 256; ++x) {
      const auto octet = static_cast<std::uint8_t>(x);
      conjugates[x] = conjugate(octet);
      norms[x] = times_octet(octet, conjugates[x]);
    }
    for (unsigned i = 0; i < 16; ++i) {
      for (std::size_t j = 0; j < kNibble; ++j)
        if ((i >> j & 1) != 0) elements[i] ^= w[j];
      index[elements[i]] = static_cast<std::uint8_t>(i);
    }
    for (unsigned g = 0; g < 16; ++g)
      for (unsigned j = 0; j < 16; ++j) inverses[g][j] = gf256_inverse(elements[g ^ j]);
    for (unsigned x = 0; x < 256; ++x)
      unmapped[affine_of_sbox(static_cast<std::uint8_t>(x)) ^ 0x63u] = static_cast<std::uint8_t>(x);
    for (std::size_t j = 0; j < kOctetBits; ++j) mapped_basis[j] = affine_of_sbox(basis[j]);
    for (const Way way : {Way::kForward, Way::kInverse}) fill_behind(way);
  }

 private:
  constexpr void fill_behind(Way way) {
    Behind& to = behind_of[static_cast<std::size_t>(way)];
    for (unsigned x = 0; x < 256; ++x) {
      const auto octet = static_cast<std::uint8_t>(x);
      for (std::size_t j = 0; j < kNibble; ++j)
        to.of_mask[x][j] = behind(way, times_octet(conjugates[x], w[j]));
      for (std::size_t j = 0; j < kOctetBits; ++j)
        to.of_bits[x][j] = behind(way, times_octet(octet, conjugates[basis[j]]));
    }
  }
};

const Tower& tower() {
  static const Tower kTower;
  return kTower;
}

Label dot(const Label* labels, const std::uint8_t* factors, std::size_t count) {
  return fastest_kernel().dot(labels, factors, count);
}

// The labels of one S-box: of s, m and m' bits that have octet 0 for the share alone, of products
// likewise.
struct Bits {
  const Label *s, *m, *masks, *norm, *product;
};

// [N(s)] = Σ_i s_i N(B_i) ⊕ Σ_{i, j} s_i s_{4+j} w^(i+j) (Y ⊕ c(Y)), and m.
Label masked_norm(const Bits& bits) {
  const Tower& t = tower();
  Label out;
  const std::uint8_t trace = t.basis[0] ^ t.conjugates[t.basis[0]];
  for (std::size_t i = 0; i < kOctetBits; ++i) out = out ^ times(bits.s[i], t.norms[t.basis[i]]);
  for (std::size_t i = 0; i < kNibble; ++i)
    for (std::size_t j = 0; j < kNibble; ++j)
      out =
          out ^ times(bits.norm[i * kNibble + j], times_octet(times_octet(t.w[i], t.w[j]), trace));
  return out ^ dot(bits.m, t.w, kNibble);
}

// c(s) m' = Σ_{i, j} m'_i s_j w^i c(B_j), by what stands behind.
Label masked_product(const Bits& bits, Way way) {
  const Tower& t = tower();
  std::uint8_t factors[kNibble * kOctetBits];
  for (std::size_t i = 0; i < kNibble; ++i)
    for (std::size_t j = 0; j < kOctetBits; ++j)
      factors[i * kOctetBits + j] = behind(way, times_octet(t.w[i], t.conjugates[t.basis[j]]));
  return dot(bits.product, factors, kNibble * kOctetBits);
}

void fill(const Bits& bits, const Label* vector, Way way, Label* out) {
  const Tower& t = tower();
  std::uint8_t conjugates[kOctetBits];
  for (std::size_t j = 0; j < kOctetBits; ++j) conjugates[j] = t.conjugates[t.basis[j]];
  out[kFirst] = dot(bits.s, conjugates, kOctetBits);
  out[kFirst + 1] = dot(bits.s, t.basis, kOctetBits);
  out[kFirst + 2] = masked_norm(bits);
  out[kProduct] = masked_product(bits, way);
  std::copy_n(vector, 16, out + kVector);
  std::copy_n(bits.masks, kNibble, out + kMask);
  std::copy_n(bits.s, kOctetBits, out + kBits);
}

// What masks the octet that is opened first: s, or A(s).
Label opening_mask(Way way, const Label* of) {
  return way == Way::kForward ? of[kFirst + 1] : dot(of + kBits, tower().mapped_basis, kOctetBits);
}

void for_octets(Labels& bits) {
  for (Label& one : bits) one = octet_part(one);
}

// Every `stride` labels a part of them.
Labels parts(const Labels& of, std::size_t stride, std::size_t first, std::size_t count) {
  Labels out;
  out.reserve(of.size() / stride * count);
  for (std::size_t k = first; k < of.size(); k += stride)
    out.insert(out.end(), &of[k], &of[k] + count);
  return out;
}

Result<void> make_some(Dealer& dealer, Way way, std::span<Label> out) {
  const std::size_t count = out.size() / NormTables::kLabels;
  Labels s(count * kOctetBits), m(count * kNibble), masks(count * kNibble);
  for (Labels* bits : {&s, &m, &masks})
    if (auto drawn = dealer.draw(std::span(*bits)); !drawn) return drawn;
  auto norm = multiply(dealer, {kNibble, kNibble}, parts(s, kOctetBits, 0, kNibble),
                       parts(s, kOctetBits, kNibble, kNibble));
  if (!norm) return norm.error();
  auto product = multiply(dealer, {kNibble, kOctetBits}, masks, s);
  if (!product) return product.error();
  auto vectors = demux(dealer, m, kNibble);
  if (!vectors) return vectors.error();
  for (Labels* bits : {&s, &m, &masks, &*norm, &*product, &*vectors}) for_octets(*bits);
  for (std::size_t k = 0; k < count; ++k)
    fill({&s[k * kOctetBits], &m[k * kNibble], &masks[k * kNibble], &(*norm)[k * kNibble * kNibble],
          &(*product)[k * kNibble * kOctetBits]},
         &(*vectors)[k * 16], way, &out[k * NormTables::kLabels]);
  return {};
}

}  // namespace

Result<NormTables> NormTables::make_for(Dealer& dealer, std::size_t count, Way way) {
  NormTables out(way);
  out.stock_ = Stock(dealer.session(), count, "tables");
  resize_in_huge_pages(out.labels_, count * kLabels);
  for (std::size_t first = 0; first < count; first += kProductsAtOnce) {
    const std::size_t some = std::min(kProductsAtOnce, count - first);
    auto made =
        make_some(dealer, way, std::span(out.labels_).subspan(first * kLabels, some * kLabels));
    if (!made) return made.error();
  }
  if (auto good = dealer.check(); !good) return good.error();
  return out;
}

Result<void> NormTables::look_up(Dealer& dealer, std::span<Label> octets) {
  auto taken = stock_.take(dealer.session(), octets.size());
  if (!taken) return taken.error();
  const auto serving = std::span(labels_).subspan(*taken * kLabels, octets.size() * kLabels);
  const Label* labels = serving.data();
  const Tower& t = tower();
  SecretVector opened[3];
  // Opens `octets`, and gives what they are to `next` one by one.
  const auto round = [&](SecretVector& values, const auto& next) -> Result<void> {
    values.resize(octets.size());
    if (auto done = dealer.open(octets, values); !done) return done;
    for (std::size_t k = 0; k < octets.size(); ++k)
      octets[k] = next(k, labels + k * kLabels, values[k]);
    return {};
  };
  const auto& of_way = t.behind_of[static_cast<std::size_t>(way_)];
  for (std::size_t k = 0; k < octets.size(); ++k)
    octets[k] = octets[k] ^ opening_mask(way_, labels + k * kLabels);
  auto done = round(opened[0], [&](std::size_t k, const Label* of, std::uint8_t h) {
    if (way_ == Way::kInverse) h = opened[0][k] = t.unmapped[h];
    const std::uint8_t factors[kNibble] = {h, t.conjugates[h], 1, 0};
    return dot(of + kFirst, factors, kNibble) ^ dealer.multiple(t.norms[h]);
  });
  if (done)
    done = round(opened[1], [&](std::size_t, const Label* of, std::uint8_t g) {
      return dot(of + kVector, t.inverses[t.index[g]], 16) ^ dot(of + kMask, t.w, kNibble);
    });
  if (done)
    done = round(opened[2], [&](std::size_t k, const Label* of, std::uint8_t f) {
      const std::uint8_t h = opened[0][k];
      const auto clear = static_cast<std::uint8_t>(behind(way_, times_octet(t.conjugates[h], f)) ^
                                                   (way_ == Way::kForward ? 0x63 : 0));
      return dot(of + kMask, of_way.of_mask[h], kNibble) ^
             dot(of + kBits, of_way.of_bits[f], kOctetBits) ^ of[kProduct] ^ dealer.multiple(clear);
    });
  wipe(serving);
  return done;
}

}  // namespace tkdc::lut
