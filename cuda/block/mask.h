// SPDX-License-Identifier: Apache-2.0
// Adds the party's zero-share F(k_i) ^ F(k_{i+1}) to a message where it stands: one thread makes
// a unit of both streams (eight AES blocks, or one of ChaCha20).
//
// A unit begins at a multiple of its size in the stream; the message begins `skip` octets into
// the first one, at any octet. So the units of a thread block are put side by side into shared
// memory, and then its threads add them to the message word by word, neighbours to neighbouring
// words; what is less than a word, at the ends, octet by octet, so that no two threads share one.
// The keys stand in shared memory too, where reading one address by all threads costs one access.
#pragma once

#include "cuda/block/view.h"

namespace tkdc::cuda {

// Enough for every skip below a unit, so that a graph's grid fits all of its ticks.
inline std::uint32_t units(std::uint32_t message_octets, std::uint32_t unit_octets) {
  return (message_octets + 2 * unit_octets - 2) / unit_octets;
}

// What makes the units of a thread block: keys as threads want them, and one thread's unit.
struct AesUnits {
  static constexpr int kWords = 4 * kAesBlocks, kCounters = kAesBlocks;
  struct Keys {
    AesPlanes stream[2];
  };
  TKDC_HD static void prepare(const Tick& tick, std::uint32_t lane, Keys& keys) {
    for (std::uint32_t n = lane; n < 2 * 32 * (kAesRounds + 1); n += kThreadsPerBlock) {
      const std::uint32_t c = n & 1, k = n >> 1 & 7, row = n >> 4 & 3, round = n >> 6;
      keys.stream[c].round[round][row][k] = key_plane(tick.aes[c], round, row, k);
    }
  }
  // The unit's place keeps the first stream's planes meanwhile.
  TKDC_HD static void make(const Keys& keys, Word first_counter, Word* unit) {
    Word planes[4][8], words[kWords];
    TKDC_NO_UNROLL
    for (int c = 0; c < 2; ++c) {
      aes_ctr_planes(keys.stream[c], first_counter, planes);
      TKDC_UNROLL
      for (int n = 0; n < kWords; ++n) {
        Word& plane = planes[n / 8][n % 8];
        if (c > 0) plane ^= unit[n];
        unit[n] = plane;
      }
    }
    blocks_of_planes(planes, words);
    TKDC_UNROLL
    for (int n = 0; n < kWords; ++n) unit[n] = words[n];
  }
};

struct ChaChaUnits {
  static constexpr int kWords = 16, kCounters = 1;
  struct Keys {
    ChaChaKey stream[2];
  };
  TKDC_HD static void prepare(const Tick& tick, std::uint32_t lane, Keys& keys) {
    if (lane < 16) keys.stream[lane / 8].word[lane % 8] = tick.chacha[lane / 8].word[lane % 8];
  }
  TKDC_HD static void make(const Keys& keys, Word counter, Word* unit) {
    Word mine[kWords], next[kWords];
    chacha20_block(keys.stream[0], counter, mine);
    chacha20_block(keys.stream[1], counter, next);
    TKDC_UNROLL
    for (int n = 0; n < kWords; ++n) unit[n] = mine[n] ^ next[n];
  }
};

// The units of a thread block, one after the other. A word between two of them keeps threads that
// write the same word of theirs off each other's bank; the last one is read, and shifted out.
template <int kWords>
struct Stage {
  static constexpr std::uint32_t kOctets = 4 * kWords * kThreadsPerBlock;
  Word word[kThreadsPerBlock * (kWords + 1) + 1];

  TKDC_HD Word* unit(std::uint32_t lane) { return word + (kWords + 1) * lane; }
  TKDC_HD Word word_of(std::uint32_t n) const { return word[n + n / kWords]; }
  TKDC_HD Word octet(std::uint32_t at) const { return word_of(at / 4) >> 8 * (at % 4) & 0xffu; }
  TKDC_HD Word four_octets(std::uint32_t at) const {
    const std::uint64_t both = std::uint64_t{word_of(at / 4 + 1)} << 32 | word_of(at / 4);
    return static_cast<Word>(both >> 8 * (at % 4));
  }
};

template <class Units, int kLayer>
struct Mask {
  static constexpr int kPhases = 2, kCounters = Units::kCounters;
  static constexpr std::uint32_t kUnitOctets = 4 * Units::kWords;
  struct Shared {
    typename Units::Keys keys;
    Stage<Units::kWords> stage;
  };
  // All threads of a thread block, since all add.
  static std::uint32_t threads(const View& v) {
    const std::uint32_t needed = units(v.message_octets[kLayer], kUnitOctets);
    return (needed + kThreadsPerBlock - 1) / kThreadsPerBlock * kThreadsPerBlock;
  }
  TKDC_HD static void prepare(const View&, const Tick& tick, std::uint32_t lane, Shared& shared) {
    Units::prepare(tick, lane, shared.keys);
  }
  TKDC_HD static void run(const View& v, const Tick& tick, std::uint32_t t, Shared& shared,
                          int phase) {
    const std::uint32_t lane = t % kThreadsPerBlock;
    const std::int64_t octets = v.message_octets[kLayer];
    // Where in the message the unit begins, or the thread block's first one.
    const std::int64_t at = std::int64_t{kUnitOctets} * (phase == 0 ? t : t - lane) - tick.skip;
    if (phase == 0) {
      if (at < octets)
        Units::make(shared.keys, tick.first_counter + kCounters * t, shared.stage.unit(lane));
      return;
    }
    const std::int64_t end = at + Stage<Units::kWords>::kOctets;
    add(shared.stage, v.mine[kLayer], at < 0 ? 0 : at, end < octets ? end : octets, at, lane);
  }

 private:
  // To the octets [begin, end) of the message; octet `origin` of it, which may be before its
  // beginning, is the stage's first.
  TKDC_HD static void add(const Stage<Units::kWords>& stage, Word* message, std::int64_t begin,
                          std::int64_t end, std::int64_t origin, std::uint32_t lane) {
    const std::int64_t first = (begin + 3) / 4, last = end / 4;  // whole words
    for (std::int64_t w = first + lane; w < last; w += kThreadsPerBlock)
      message[w] ^= stage.four_octets(static_cast<std::uint32_t>(4 * w - origin));
    auto* octets = reinterpret_cast<std::uint8_t*>(message);
    const std::int64_t head = begin + lane, tail = 4 * (first > last ? first : last) + lane;
    if (head < 4 * first && head < end) octets[head] ^= stage.octet(head - origin);
    if (tail < end) octets[tail] ^= stage.octet(tail - origin);
  }
};

template <int kLayer>
struct MaskByAes : Mask<AesUnits, kLayer> {};
template <int kLayer>
struct MaskByChaCha : Mask<ChaChaUnits, kLayer> {};

}  // namespace tkdc::cuda
