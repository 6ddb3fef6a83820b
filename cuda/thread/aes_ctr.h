// SPDX-License-Identifier: Apache-2.0
// AES-128 in counter mode (FIPS 197; counters as OpenSSL's AES-CTR counts from zero), two blocks
// in the registers of one thread: the zero-share generator of sessions with a CPU in them.
//
// Bit 8 r + 4 b + c of plane k is bit k of row r, column c of block b, so ShiftRows rotates
// within nibbles and MixColumns rotates whole planes. Schedules carry SubBytes' constant 0x63,
// which passes ShiftRows and MixColumns unchanged. Keys and streams are secret; constant time.
#pragma once

#include "cuda/thread/plane_linear.h"
#include "cuda/thread/sbox_layers.h"
#include "cuda/thread/slice.h"

namespace tkdc::cuda {

struct AesSchedule {
  static constexpr int kRounds = 10;
  Word plane[kRounds + 1][8];
};

TKDC_HD Word swap_octets(Word a) {
  return (a & 0xffu) << 24 | (a & 0xff00u) << 8 | (a >> 8 & 0xff00u) | a >> 24;
}

// Row r, column c from column c + r: FIPS 197, section 5.1.2.
TKDC_HD Word shift_rows_plane(Word a) {
  return (a & 0x000000ffu) | (a >> 1 & 0x00007700u) | (a << 3 & 0x00008800u) |
         (a >> 2 & 0x00330000u) | (a << 2 & 0x00cc0000u) | (a << 1 & 0xee000000u) |
         (a >> 3 & 0x11000000u);
}

// out: the stream's 32 octets of the counters `counter` and `counter` + 1.
TKDC_HD void aes_ctr_pair(const AesSchedule& key, Word counter, Word (&out)[8]) {
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) out[k] = 0;
  out[3] = swap_octets(counter);
  out[7] = swap_octets(counter + 1);
  slice(out);
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) out[k] ^= key.plane[0][k];
  for (int round = 1; round <= AesSchedule::kRounds; ++round) {
    sub_planes(out);
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k) out[k] = shift_rows_plane(out[k]);
    if (round < AesSchedule::kRounds) mix_planes(out);
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k) out[k] ^= key.plane[round][k];
  }
  slice(out);
}

// Host only, once for each message: FIPS 197, section 5.2.
inline void expand_schedule(const std::uint8_t (&key)[16], AesSchedule& schedule) {
  Word w[4 * (AesSchedule::kRounds + 1)];
  for (int i = 0; i < 4; ++i)
    w[i] = Word{key[4 * i]} | Word{key[4 * i + 1]} << 8 | Word{key[4 * i + 2]} << 16 |
           Word{key[4 * i + 3]} << 24;
  Word rcon = 1;
  for (int i = 4; i < 4 * (AesSchedule::kRounds + 1); ++i) {
    Word t = w[i - 1];
    if (i % 4 == 0) {
      Word planes[8] = {rotate_right(t, 8)};
      slice(planes);
      sub_planes(planes);
      slice(planes);
      t = planes[0] ^ 0x63636363u ^ rcon;
      rcon = rcon << 1 ^ (rcon & 0x80 ? 0x11bu : 0);
    }
    w[i] = w[i - 4] ^ t;
  }
  for (int round = 0; round <= AesSchedule::kRounds; ++round) {
    Word(&planes)[8] = schedule.plane[round];
    for (int i = 0; i < 8; ++i) planes[i] = w[4 * round + i % 4] ^ (round > 0 ? 0x63636363u : 0);
    slice(planes);
  }
  // The stack held the key in words: the caller's schedule is all that may remain.
  for (volatile Word& word : w) word = 0;
}

}  // namespace tkdc::cuda
