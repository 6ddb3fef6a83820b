// SPDX-License-Identifier: Apache-2.0
// One party's local work in the four layers of the AES S-box on 32 lanes, bit-sliced in the
// registers of one thread.
//
// The layers stand over the tower field a = h y + l; their terms come from circuits/sbox.py, as
// those of the CPU backends do. A Pair holds components i and i+1; the terms of a product that
// party i adds up are a_i b_i ^ a_i b_{i+1} ^ a_{i+1} b_i (Araki et al. 2016, section 2.1).
// Everything is secret: no branch and no index depends on it.
#pragma once

#include "cuda/thread/host_device.h"
#include "sbox_constants.h"

namespace tkdc::cuda {

struct Pair {
  Word x, y;
};
TKDC_HD Pair operator^(Pair a, Pair b) { return {a.x ^ b.x, a.y ^ b.y}; }

TKDC_HD Word terms_of(Pair a, Pair b) { return (a.x & (b.x ^ b.y)) ^ (a.y & b.x); }
TKDC_HD Word terms_of(Pair a) { return a.x; }

// out += the lanes of t, at each bit of mask.
template <int kBits>
TKDC_HD void add_terms(Word (&out)[kBits], Word t, int mask) {
  TKDC_UNROLL
  for (int k = 0; k < kBits; ++k)
    if (mask >> k & 1) out[k] ^= t;
}

// A linear map on the 8 bits of an octet, as GF2P8AFFINEQB takes it: octet 7-i is row i.
template <std::uint64_t kMatrix>
TKDC_HD void linear_map(const Word (&in)[8], Word (&out)[8]) {
  TKDC_UNROLL
  for (int row = 0; row < 8; ++row) {
    Word r = 0;
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k)
      if (kMatrix >> (8 * (7 - row) + k) & 1) r ^= in[k];
    out[row] = r;
  }
}

#define TKDC_LINEAR(a, mask) add_terms(out, terms_of(a), mask);
#define TKDC_PRODUCT(a, b, mask) add_terms(out, terms_of(a, b), mask);

// Layer 1: d = 8 h^2 + h l + l^2; `a` in the tower, l in its bits 0..3.
TKDC_HD void norm_terms(const Pair (&a)[8], Word (&out)[4]) {
  const Pair l0 = a[0], l1 = a[1], l2 = a[2], l3 = a[3], h0 = a[4], h1 = a[5], h2 = a[6], h3 = a[7];
  out[0] = out[1] = out[2] = out[3] = 0;
  TKDC_SBOX_TOWER_NORM_TERMS(TKDC_LINEAR, TKDC_PRODUCT)
}

// Layer 2: q = d^5 in GF(4), d's norm.
TKDC_HD void pair_terms(const Pair (&d)[4], Word (&out)[2]) {
  const Pair d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
  out[0] = out[1] = 0;
  TKDC_SBOX_NORM_TERMS(TKDC_LINEAR, TKDC_PRODUCT)
}

// Layer 3: e = d^-1 = d^4 q^2.
TKDC_HD void invert_terms(const Pair (&d)[4], const Pair (&q)[2], Word (&out)[4]) {
  const Pair d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3], q0 = q[0], q1 = q[1];
  out[0] = out[1] = out[2] = out[3] = 0;
  TKDC_SBOX_INVERT_TERMS(TKDC_LINEAR, TKDC_PRODUCT)
}

TKDC_HD void gf16_terms(const Pair (&a)[4], const Pair (&b)[4], Word (&out)[4]) {
  const Pair a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
  out[0] = out[1] = out[2] = out[3] = 0;
  TKDC_SBOX_GF16_PRODUCT_TERMS(TKDC_LINEAR, TKDC_PRODUCT)
}

#undef TKDC_LINEAR
#undef TKDC_PRODUCT

// Layer 4: a^-1 = (h e, (h + l) e), in the tower.
TKDC_HD void product_terms(const Pair (&a)[8], const Pair (&e)[4], Word (&out)[8]) {
  const Pair h[4] = {a[4], a[5], a[6], a[7]};
  const Pair sum[4] = {a[0] ^ a[4], a[1] ^ a[5], a[2] ^ a[6], a[3] ^ a[7]};
  Word low[4], high[4];
  gf16_terms(sum, e, low);
  gf16_terms(h, e, high);
  TKDC_UNROLL
  for (int k = 0; k < 4; ++k) {
    out[k] = low[k];
    out[k + 4] = high[k];
  }
}

// Octets of shares, as planes, into the tower.
TKDC_HD void to_tower(const Word (&x)[8], const Word (&y)[8], Pair (&out)[8]) {
  Word tx[8], ty[8];
  linear_map<sbox::kToTower>(x, tx);
  linear_map<sbox::kToTower>(y, ty);
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) out[k] = {tx[k], ty[k]};
}

}  // namespace tkdc::cuda
