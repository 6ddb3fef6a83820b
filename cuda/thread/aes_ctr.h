// SPDX-License-Identifier: Apache-2.0
// AES-128 in counter mode (FIPS 197; counters as OpenSSL's AES-CTR counts from zero), eight blocks
// in the registers of one thread: the zero-share generator of sessions with a CPU in them.
//
// Bit 8 c + b of plane [r][k] is bit k of row r, column c of block b: SubBytes is four times the
// same gates, ShiftRows rotates words by whole octets, MixColumns adds words. Schedules carry
// SubBytes' constant 0x63, which passes ShiftRows and MixColumns unchanged. Keys and streams are
// secret; constant time.
#pragma once

#include "cuda/thread/sbox_gates.h"
#include "cuda/thread/slice.h"
#include "cuda/thread/transpose.h"

namespace tkdc::cuda {

inline constexpr Word kAesBlocks = 8;  // of a thread
inline constexpr int kAesRounds = 10;

// Octet r of word 4 i + c: row r, column c of round key i.
struct AesSchedule {
  Word word[4 * (kAesRounds + 1)];
};

// The same as planes, for eight blocks.
struct AesPlanes {
  Word round[kAesRounds + 1][4][8];
};

TKDC_HD Word key_plane(const AesSchedule& key, int round, int row, int k) {
  Word plane = 0;
  TKDC_UNROLL
  for (int c = 0; c < 4; ++c)
    plane |= ((0 - (key.word[4 * round + c] >> (8 * row + k) & 1)) & 0xffu) << 8 * c;
  return plane;
}

// What of the counters `first`.. stands in a plane: octets 12 to 15 of a block, column 3, from the
// most significant one on. `first` is a multiple of kAesBlocks.
TKDC_HD Word counter_plane(Word first, int row, int k) {
  constexpr Word kOwn[3] = {0xaa000000u, 0xcc000000u, 0xf0000000u};
  const int bit = 8 * (3 - row) + k;
  return bit < 3 ? kOwn[bit] : (0 - (first >> bit & 1)) << 24;
}

// b_r = 2 (a_r + a_{r+1}) + a_{r+1} + a_{r+2} + a_{r+3}, and the key: FIPS 197, section 5.1.3.
// Sums of neighbours are made of odd bits alone: a bit k takes that of k - 1 or of k.
TKDC_HD void mix_and_add_key(Word (&a)[4][8], const Word (&key)[4][8]) {
  Word sum[4][8], out[4][8];
  TKDC_UNROLL
  for (int r = 0; r < 4; ++r) {
    TKDC_UNROLL
    for (int k = 1; k < 8; k += 2) sum[r][k] = a[r][k] ^ a[(r + 1) & 3][k];
  }
  TKDC_UNROLL
  for (int r = 0; r < 4; ++r) {
    const Word(&next)[8] = a[(r + 1) & 3], (&second)[8] = a[(r + 2) & 3],
          (&third)[8] = a[(r + 3) & 3];
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k) {
      Word t = k % 2 ? add3(a[r][k - 1], next[k - 1], next[k])
                     : add3(sum[r][(k + 7) & 7], next[k], second[k]);
      if (k == 1 || k == 3 || k == 4) t ^= sum[r][7];
      out[r][k] = add3(t, k % 2 ? sum[(r + 2) & 3][k] : third[k], key[r][k]);
    }
  }
  TKDC_UNROLL
  for (int r = 0; r < 4; ++r) {
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k) a[r][k] = out[r][k];
  }
}

// a: the stream's blocks of kAesBlocks counters, as planes.
TKDC_HD void aes_ctr_planes(const AesPlanes& key, Word first, Word (&a)[4][8]) {
  TKDC_UNROLL
  for (int r = 0; r < 4; ++r) {
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k) a[r][k] = counter_plane(first, r, k) ^ key.round[0][r][k];
  }
  TKDC_NO_UNROLL
  for (int round = 1; round <= kAesRounds; ++round) {
    TKDC_UNROLL
    for (int r = 0; r < 4; ++r) {
      sub_gates(a[r]);
      // Column c from column c + r: FIPS 197, section 5.1.2.
      TKDC_UNROLL
      for (int k = 0; k < 8; ++k)
        if (r > 0) a[r][k] = rotate_right(a[r][k], 8 * r);
    }
    if (round == kAesRounds) break;
    mix_and_add_key(a, key.round[round]);
  }
  TKDC_UNROLL
  for (int r = 0; r < 4; ++r) {
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k) a[r][k] ^= key.round[kAesRounds][r][k];
  }
}

// Planes to the blocks' words: word 4 b + c is column c of block b.
TKDC_HD void blocks_of_planes(const Word (&a)[4][8], Word (&out)[4 * kAesBlocks]) {
  Word w[32];
  TKDC_UNROLL
  for (int n = 0; n < 32; ++n) w[n] = a[n / 8][n % 8];
  transpose(w);
  TKDC_UNROLL
  for (int n = 0; n < 32; ++n) out[n] = w[8 * (n % 4) + n / 4];
}

// Host only, once for each message: FIPS 197, section 5.2.
inline void expand_schedule(const std::uint8_t (&key)[16], AesSchedule& schedule) {
  Word(&w)[4 * (kAesRounds + 1)] = schedule.word;
  for (int i = 0; i < 4; ++i)
    w[i] = Word{key[4 * i]} | Word{key[4 * i + 1]} << 8 | Word{key[4 * i + 2]} << 16 |
           Word{key[4 * i + 3]} << 24;
  Word rcon = 1;
  for (int i = 4; i < 4 * (kAesRounds + 1); ++i) {
    Word t = w[i - 1];
    if (i % 4 == 0) {
      Word planes[8] = {rotate_right(t, 8)};
      slice(planes);
      sub_gates(planes);
      slice(planes);
      t = planes[0] ^ 0x63636363u ^ rcon;
      rcon = rcon << 1 ^ (rcon & 0x80 ? 0x11bu : 0);
    }
    w[i] = w[i - 4] ^ t;
  }
  for (int i = 4; i < 4 * (kAesRounds + 1); ++i) w[i] ^= 0x63636363u;
}

}  // namespace tkdc::cuda
