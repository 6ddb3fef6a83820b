// SPDX-License-Identifier: Apache-2.0
// What stands between the S-boxes, for cohorts in planes, and how blocks become planes.
//
// A thread takes one column of eight blocks, of one component: in the registers row r of the
// column stands in octet r of eight planes' words, bit b of it for block 8 g + b, so MixColumns
// is plane_linear.h's. Blocks past the last one are zero until SubBytes' constant comes to them, as
// in the CPU's planes: they travel too.
#pragma once

#include "cuda/block/view.h"
#include "cuda/thread/plane_linear.h"
#include "cuda/thread/sbox_layers.h"
#include "cuda/thread/slice.h"

namespace tkdc::cuda::planes {

struct RoundBody : Alone {
  static std::uint32_t threads(const View& v) { return 8 * v.group; }
};

struct Seat {
  TKDC_HD Seat(const View& v, std::uint32_t t)
      : c(t >= 4 * v.group), column((t / v.group) & 3), octet(t % v.group) {}
  int c;
  std::uint32_t column, octet;
};

// The column's eight planes out of memory, row r from column + direction * r.
template <int kDirection>
TKDC_HD void gather(const View& v, const Word* from, Seat s, Word (&planes)[8]) {
  const auto* octets = reinterpret_cast<const std::uint8_t*>(from);
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) {
    planes[k] = 0;
    TKDC_UNROLL
    for (int r = 0; r < 4; ++r) {
      const std::uint32_t column = (s.column + static_cast<std::uint32_t>(kDirection * r + 4)) & 3;
      const std::uint32_t position = static_cast<std::uint32_t>(r) + 4 * column;
      const std::size_t at = std::size_t{16} * v.group * static_cast<std::size_t>(k) +
                             std::size_t{position} * v.group + s.octet;
      planes[k] |= Word{octets[at]} << 8 * r;
    }
  }
}

TKDC_HD void scatter(const View& v, Word* to, Seat s, const Word (&planes)[8]) {
  auto* octets = reinterpret_cast<std::uint8_t*>(to);
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) {
    TKDC_UNROLL
    for (int r = 0; r < 4; ++r) {
      const std::uint32_t position = static_cast<std::uint32_t>(r) + 4 * s.column;
      octets[std::size_t{16} * v.group * static_cast<std::size_t>(k) +
             std::size_t{position} * v.group + s.octet] =
          static_cast<std::uint8_t>(planes[k] >> 8 * r);
    }
  }
}

TKDC_HD const Word* result_of(const View& v, Seat s) { return s.c ? v.theirs[3] : v.mine[3]; }

// 0x63 to the component that carries constants.
TKDC_HD void add_constant(const View& v, Seat s, Word (&planes)[8]) {
  const Word all = s.c == v.constant ? ~Word{0} : 0;
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k)
    if (0x63 >> k & 1) planes[k] ^= all;
}

TKDC_HD void add_key(const View& v, Seat s, Word (&planes)[8]) {
  Word key[8];
  TKDC_UNROLL
  for (std::uint32_t b = 0; b < 8; ++b) {
    const std::uint32_t block = 8 * s.octet + b;
    key[b] = block < v.blocks
                 ? v.round_key[4 * (2 * std::size_t{v.run_of[block]} + static_cast<unsigned>(s.c)) +
                               s.column]
                 : 0;
  }
  slice(key);
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) planes[k] ^= key[k];
}

struct Slice : RoundBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word w[8];
    TKDC_UNROLL
    for (std::uint32_t b = 0; b < 8; ++b) {
      const std::uint32_t block = 8 * s.octet + b;
      w[b] = block < v.blocks ? v.octets[s.c][4 * std::size_t{block} + s.column] : 0;
    }
    slice(w);
    scatter(v, v.state[s.c], s, w);
  }
};

struct Unslice : RoundBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word w[8];
    gather<0>(v, v.state[s.c], s, w);
    slice(w);
    TKDC_UNROLL
    for (std::uint32_t b = 0; b < 8; ++b) {
      const std::uint32_t block = 8 * s.octet + b;
      if (block < v.blocks) v.octets[s.c][4 * std::size_t{block} + s.column] = w[b];
    }
  }
};

struct AddRoundKey : RoundBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word a[8];
    gather<0>(v, v.state[s.c], s, a);
    add_key(v, s, a);
    scatter(v, v.state[s.c], s, a);
  }
};

template <bool kLast>
struct EncryptRound : RoundBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word a[8], b[8];
    gather<+1>(v, result_of(v, s), s, a);
    linear_map<sbox::kFromTowerAffine>(a, b);
    add_constant(v, s, b);
    if (!kLast) mix_planes(b);
    add_key(v, s, b);
    scatter(v, v.state[s.c], s, b);
  }
};

struct InvShiftSub : RoundBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word a[8], b[8];
    gather<-1>(v, v.state[s.c], s, a);
    add_constant(v, s, a);
    linear_map<sbox::kAffineInverse>(a, b);
    scatter(v, v.input[s.c], s, b);
  }
};

struct TakeInverse : RoundBody {  // and AddRoundKey
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word a[8], b[8];
    gather<0>(v, result_of(v, s), s, a);
    linear_map<sbox::kFromTower>(a, b);
    add_key(v, s, b);
    scatter(v, v.state[s.c], s, b);
  }
};

struct InvMix : RoundBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    const Seat s(v, t);
    Word a[8];
    gather<0>(v, v.state[s.c], s, a);
    inv_mix_planes(a);
    scatter(v, v.state[s.c], s, a);
  }
};

}  // namespace tkdc::cuda::planes
