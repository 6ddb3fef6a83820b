// SPDX-License-Identifier: Apache-2.0
// What every kernel of a cohort is given, and how a kernel body looks.
//
// A View says where the cohort's parts stand in device memory; it does not change while the
// cohort lives. A Tick is what changes from round to round; it stands in device memory too, so
// that a captured graph can be launched again with nothing but a copy of it in front. What the
// pointers lead to, and the Tick's schedules, are secret.
#pragma once

#include "cuda/block/bit_view.h"
#include "cuda/thread/aes_ctr.h"
#include "cuda/thread/chacha20.h"

namespace tkdc::cuda {

inline constexpr int kLayers = 4;
inline constexpr int kLayerBits[kLayers] = {4, 2, 4, 8};
inline constexpr std::uint32_t kThreadsPerBlock = 128;

struct View {
  std::uint32_t blocks;
  std::uint32_t group;    // planes: octets of one position, ceil(blocks / 8)
  std::int32_t constant;  // the component that carries public constants, or -1
  std::uint32_t message_octets[kLayers];
  Word* state[2];               // octets: 4 words for each block; planes: 8 of 4 * group words
  Word* input[2];               // what the S-boxes are applied to; the state itself when encrypting
  Word* octets[2];              // planes only: blocks as they come and go
  Word* mine[kLayers];          // messages, and with the zero-share the result's component i
  Word* theirs[kLayers];        // component i+1
  const Word* round_key;        // this tick's; for each run component 0's words, then component 1's
  const std::uint32_t* run_of;  // block -> run
  BitView bits;                 // of cohorts on bit planes, whose messages are of "layer 0"
  const void* task;             // of kernels that have another (check_tasks.h)
};

struct Tick {
  AesSchedule aes[2];  // of the zero-share's two streams
  ChaChaKey chacha[2];
  Word first_counter;  // of the unit in which the message's mask begins
  Word skip;           // octets of that unit that belong to what was sent before
};

// A kernel body: threads(view), then for each thread block prepare() by all its threads, a
// barrier, and run() by all. Bodies without shared memory inherit the empty prepare(). One whose
// threads go on with what others have put into shared memory has kPhases, with a barrier after
// each, and run() is told which.
struct Alone {
  struct Shared {};
  TKDC_HD static void prepare(const View&, const Tick&, std::uint32_t, Shared&) {}
};

template <class Body>
concept Phased = requires {
  Body::kPhases;
};

}  // namespace tkdc::cuda
