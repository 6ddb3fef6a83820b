// SPDX-License-Identifier: Apache-2.0
// What stands between the S-boxes (FIPS 197, sections 5.1 and 5.3), for cohorts in octets: one
// thread for each component of each block.
#pragma once

#include "cuda/block/view.h"
#include "cuda/thread/octet_linear.h"

namespace tkdc::cuda::octets {

struct RoundBody : Alone {
  static std::uint32_t threads(const View& v) { return 2 * v.blocks; }
};

// Which component and block thread t has.
struct Seat {
  TKDC_HD Seat(const View& v, std::uint32_t t) : c(t >= v.blocks), block(c ? t - v.blocks : t) {}
  int c;
  std::uint32_t block;
};

TKDC_HD void load_block(const Word* from, Seat s, Word (&out)[4]) {
  TKDC_UNROLL
  for (int k = 0; k < 4; ++k) out[k] = from[4 * std::size_t{s.block} + k];
}
TKDC_HD void store_block(Word* to, Seat s, const Word (&in)[4]) {
  TKDC_UNROLL
  for (int k = 0; k < 4; ++k) to[4 * std::size_t{s.block} + k] = in[k];
}
TKDC_HD const Word* result_of(const View& v, Seat s) { return s.c ? v.theirs[3] : v.mine[3]; }
TKDC_HD Word constant_of(const View& v, Seat s) { return s.c == v.constant ? 0x63636363u : 0; }

TKDC_HD void add_key(const View& v, Seat s, Word (&a)[4]) {
  const Word* key =
      v.round_key + 4 * (2 * std::size_t{v.run_of[s.block]} + static_cast<unsigned>(s.c));
  TKDC_UNROLL
  for (int k = 0; k < 4; ++k) a[k] ^= key[k];
}

struct AddRoundKey : RoundBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word a[4];
    load_block(v.state[s.c], s, a);
    add_key(v, s, a);
    store_block(v.state[s.c], s, a);
  }
};

// SubBytes' affine map, ShiftRows, MixColumns unless last, AddRoundKey.
template <bool kLast>
struct EncryptRound : RoundBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word a[4], b[4];
    load_block(result_of(v, s), s, a);
    TKDC_UNROLL
    for (int k = 0; k < 4; ++k) a[k] = map_octets<sbox::kAffine>(a[k]) ^ constant_of(v, s);
    shift_rows<+1>(a, b);
    TKDC_UNROLL
    for (int k = 0; k < 4; ++k) b[k] = kLast ? b[k] : mix_column(b[k]);
    add_key(v, s, b);
    store_block(v.state[s.c], s, b);
  }
};

struct InvShiftSub : RoundBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word a[4], b[4];
    load_block(v.state[s.c], s, a);
    shift_rows<-1>(a, b);
    TKDC_UNROLL
    for (int k = 0; k < 4; ++k) b[k] = map_octets<sbox::kAffineInverse>(b[k] ^ constant_of(v, s));
    store_block(v.input[s.c], s, b);
  }
};

struct TakeInverse : RoundBody {  // and AddRoundKey
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word a[4];
    load_block(result_of(v, s), s, a);
    add_key(v, s, a);
    store_block(v.state[s.c], s, a);
  }
};

struct InvMix : RoundBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word a[4];
    load_block(v.state[s.c], s, a);
    TKDC_UNROLL
    for (int k = 0; k < 4; ++k) a[k] = inv_mix_column(a[k]);
    store_block(v.state[s.c], s, a);
  }
};

}  // namespace tkdc::cuda::octets
