// SPDX-License-Identifier: Apache-2.0
// Adds the party's zero-share F(k_i) ^ F(k_{i+1}) to a message where it stands: one thread for
// each unit of the streams (two AES blocks, or one of ChaCha20).
//
// A unit begins at a multiple of its size in the stream; the message begins `skip` octets into
// the first one. Thread blocks keep the key material in shared memory, where reading one address
// by all threads costs one access.
#pragma once

#include "cuda/block/view.h"

namespace tkdc::cuda {

// Enough for every skip below a unit, so that a graph's grid fits all of its ticks.
inline std::uint32_t units(std::uint32_t message_octets, std::uint32_t unit_octets) {
  return (message_octets + 2 * unit_octets - 2) / unit_octets;
}

// The octets of a unit that fall into the message, XORed onto it; no two threads share an octet.
template <int kWords>
TKDC_HD void add_unit(Word* message, Word message_octets, Word skip, std::uint32_t t,
                      const Word (&unit)[kWords]) {
  const std::int64_t first = std::int64_t{4 * kWords} * t - skip;
  if ((skip & 3) == 0) {
    TKDC_UNROLL
    for (int k = 0; k < kWords; ++k) {
      const std::int64_t at = first + 4 * k;
      if (at >= 0 && at < std::int64_t{message_octets}) message[at / 4] ^= unit[k];
    }
    return;
  }
  // Unrolled, so that the unit stays in registers.
  auto* octets = reinterpret_cast<std::uint8_t*>(message);
  TKDC_UNROLL
  for (int w = 0; w < kWords; ++w) {
    TKDC_UNROLL
    for (int b = 0; b < 4; ++b) {
      const std::int64_t at = first + 4 * w + b;
      if (at >= 0 && at < std::int64_t{message_octets})
        octets[at] = static_cast<std::uint8_t>(octets[at] ^ unit[w] >> 8 * b);
    }
  }
}

template <int kLayer>
struct MaskByAes {
  static constexpr std::uint32_t kUnitOctets = 32;
  struct Shared {
    AesSchedule schedule[2];
  };
  static std::uint32_t threads(const View& v) {
    return units(v.message_octets[kLayer], kUnitOctets);
  }
  TKDC_HD static void prepare(const View&, const Tick& tick, std::uint32_t lane, Shared& shared) {
    constexpr std::uint32_t kPlanes = 8 * (AesSchedule::kRounds + 1);
    for (std::uint32_t k = lane; k < 2 * kPlanes; k += kThreadsPerBlock)
      shared.schedule[k / kPlanes].plane[k % kPlanes / 8][k % 8] =
          tick.aes[k / kPlanes].plane[k % kPlanes / 8][k % 8];
  }
  TKDC_HD static void run(const View& v, const Tick& tick, std::uint32_t t, const Shared& shared) {
    Word mine[8], next[8];
    aes_ctr_pair(shared.schedule[0], tick.first_counter + 2 * t, mine);
    aes_ctr_pair(shared.schedule[1], tick.first_counter + 2 * t, next);
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k) mine[k] ^= next[k];
    add_unit(v.mine[kLayer], v.message_octets[kLayer], tick.skip, t, mine);
  }
};

template <int kLayer>
struct MaskByChaCha {
  static constexpr std::uint32_t kUnitOctets = 64;
  struct Shared {
    ChaChaKey key[2];
  };
  static std::uint32_t threads(const View& v) {
    return units(v.message_octets[kLayer], kUnitOctets);
  }
  TKDC_HD static void prepare(const View&, const Tick& tick, std::uint32_t lane, Shared& shared) {
    if (lane < 16) shared.key[lane / 8].word[lane % 8] = tick.chacha[lane / 8].word[lane % 8];
  }
  TKDC_HD static void run(const View& v, const Tick& tick, std::uint32_t t, const Shared& shared) {
    Word mine[16], next[16];
    chacha20_block(shared.key[0], tick.first_counter + t, mine);
    chacha20_block(shared.key[1], tick.first_counter + t, next);
    TKDC_UNROLL
    for (int k = 0; k < 16; ++k) mine[k] ^= next[k];
    add_unit(v.mine[kLayer], v.message_octets[kLayer], tick.skip, t, mine);
  }
};

}  // namespace tkdc::cuda
