// SPDX-License-Identifier: Apache-2.0
// The AES S-box in the clear (FIPS 197, section 5.1.1) but for its constant 0x63, on 32 lanes in
// the registers of one thread: 70 gates of three inputs, each one instruction (LOP3) of a GPU.
//
// It is the circuit of Boyar and Peralta, "A new combinational logic minimization technique with
// applications to cryptology" (SEA 2010): linear forms of the octet, its norm in GF(16), that
// one's inverse by GF(4), products, linear forms of those. It has 115 gates of two inputs.
// Regrouped for three: 17 for the forms, 13 for the norm, 13 for the inverse and its sums, 27 for
// products and result. In the norm some products are with a complement or an OR in the place of
// an AND, so that what is left over is one of the forms.
// Secret: everything; no branch, no index.
#pragma once

#include "cuda/thread/host_device.h"

namespace tkdc::cuda {

// F's results, bit 4 a + 2 b + c: what LOP3 takes (PTX ISA, lop3).
template <class F>
TKDC_HD constexpr Word gate_table() {
  return F::of(0xf0, 0xcc, 0xaa) & 0xff;
}

// One gate, F::of(a, b, c) on each lane. The compiler would reorder sums and need more of them.
template <class F>
TKDC_HD Word gate(Word a, Word b, Word c) {
#if defined(__CUDA_ARCH__)
  Word out;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(out) : "r"(a), "r"(b), "r"(c), "n"(gate_table<F>()));
  return out;
#else
  return F::of(a, b, c);
#endif
}

struct Add3 {
  TKDC_HD static constexpr Word of(Word a, Word b, Word c) { return a ^ b ^ c; }
};
struct AddAnd {
  TKDC_HD static constexpr Word of(Word a, Word b, Word c) { return a ^ (b & c); }
};
struct AddAndNot {
  TKDC_HD static constexpr Word of(Word a, Word b, Word c) { return a ^ (b & ~c); }
};
struct AddOr {
  TKDC_HD static constexpr Word of(Word a, Word b, Word c) { return a ^ (b | c); }
};
struct AndSum {
  TKDC_HD static constexpr Word of(Word a, Word b, Word c) { return a & (b ^ c); }
};
struct Choose {
  TKDC_HD static constexpr Word of(Word a, Word b, Word c) { return (a & b) | (~a & c); }
};

TKDC_HD Word add3(Word a, Word b, Word c) { return gate<Add3>(a, b, c); }
TKDC_HD Word add_and(Word a, Word b, Word c) { return gate<AddAnd>(a, b, c); }

// In place; a[k] is bit k.
TKDC_HD void sub_gates(Word (&a)[8]) {
  // The forms: factors of the products in the norm and of those at the end.
  const Word f13 = a[7] ^ a[1], f8 = a[7] ^ a[2], f9 = a[7] ^ a[4], f14 = a[4] ^ a[2];
  const Word f1 = add3(a[6], a[5], a[0]);
  const Word f15 = add3(a[4], a[3], f13), f12 = add3(a[4], a[2], f13);
  const Word f17 = add3(a[7], a[5], f14);
  const Word f6 = a[0] ^ f15, f5 = a[1] ^ f1, f2 = a[7] ^ f1, f4 = a[4] ^ f1;
  const Word f16 = f15 ^ f17, f10 = f1 ^ f6, f3 = f8 ^ f5, f11 = f17 ^ f10, f7 = a[0] ^ f11;

  // The norm, d.
  const Word p = f12 & f15, q = ~f13 & f16, r = f9 & f11;
  const Word u = gate<AddOr>(r, f14, f17), w = gate<AddAndNot>(r, f8, f10);
  const Word d0 = add3(gate<AddOr>(p, f3, f6), u, a[1]);
  const Word d1 = add3(add_and(p, f4, a[0]), w, f10);
  const Word d2 = add3(gate<AddOr>(q, f5, f1), u, a[5]);
  const Word d3 = add3(add_and(q, f2, f7), w, a[2]);

  // Its inverse, e, and sums of that one's bits.
  const Word g = add_and(d3, d0, d2), h = add_and(d1, d0, d2);
  const Word e0 = gate<Choose>(g, d0, d1), e2 = gate<Choose>(h, d2, d3);
  const Word v0 = gate<AndSum>(d1, h, e0), v2 = gate<AndSum>(d3, g, e2);
  const Word e1 = add3(v0, d0, e0), e3 = add3(v2, d2, e2);
  const Word e01 = v0 ^ d0, e23 = v2 ^ d2, e02 = e0 ^ e2, e13 = e1 ^ e3, all = e02 ^ e13;

  // Products, added up as they come. b: bits of the result.
  const Word s0 = e23 & f15, s2 = add_and(s0, e2, a[0]);
  const Word s3 = e01 & f16, s4 = add_and(s3, e1, f1), s5 = add_and(s3, e0, f7);
  const Word s6 = e02 & f11, s7 = add_and(s4, all, f17), s8 = add_and(s2, e13, f10);
  const Word s15 = e02 & f9, s16 = add_and(s15, all, f14);
  const Word s10 = add_and(s16, e3, f3), s9 = add_and(s10, e23, f12);
  const Word s14 = add_and(s8, e0, f2), s12 = add_and(s14, e01, f13);
  const Word b7 = add3(s7, s6, s9);
  const Word b4 = add_and(add3(s4, s0, s9), e3, f6);
  const Word b6 = add3(b4, s7, s6);
  const Word b3 = add3(b4, s2, s5);
  const Word b5 = add_and(add3(s6, s15, s12), e13, f8);
  const Word b2 = add_and(add3(s7, s10, s12), e2, f4);
  const Word b0 = add_and(add_and(add3(s2, s16, s5), e01, f13), e1, f5);
  a[1] = add3(b0, s7, s8);
  a[0] = b0, a[2] = b2, a[3] = b3, a[4] = b4, a[5] = b5, a[6] = b6, a[7] = b7;
}

}  // namespace tkdc::cuda
