// SPDX-License-Identifier: Apache-2.0
// One block of ChaCha20 (RFC 8439, section 2.3) in the registers of one thread: the zero-share
// generator of sessions between GPUs. Nonce zero: a key makes one stream. Keys and streams are
// secret.
#pragma once

#include "cuda/thread/host_device.h"

namespace tkdc::cuda {

struct ChaChaKey {
  Word word[8];
};

TKDC_HD void quarter_round(Word& a, Word& b, Word& c, Word& d) {
  a += b, d = rotate_left(d ^ a, 16);
  c += d, b = rotate_left(b ^ c, 12);
  a += b, d = rotate_left(d ^ a, 8);
  c += d, b = rotate_left(b ^ c, 7);
}

TKDC_HD void chacha20_block(const ChaChaKey& key, Word counter, Word (&out)[16]) {
  const Word in[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u,
                       key.word[0], key.word[1], key.word[2], key.word[3],
                       key.word[4], key.word[5], key.word[6], key.word[7],
                       counter,     0,           0,           0};
  TKDC_UNROLL
  for (int k = 0; k < 16; ++k) out[k] = in[k];
  for (int round = 0; round < 10; ++round) {
    quarter_round(out[0], out[4], out[8], out[12]);
    quarter_round(out[1], out[5], out[9], out[13]);
    quarter_round(out[2], out[6], out[10], out[14]);
    quarter_round(out[3], out[7], out[11], out[15]);
    quarter_round(out[0], out[5], out[10], out[15]);
    quarter_round(out[1], out[6], out[11], out[12]);
    quarter_round(out[2], out[7], out[8], out[13]);
    quarter_round(out[3], out[4], out[9], out[14]);
  }
  TKDC_UNROLL
  for (int k = 0; k < 16; ++k) out[k] += in[k];
}

}  // namespace tkdc::cuda
