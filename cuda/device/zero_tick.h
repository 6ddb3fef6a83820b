// SPDX-License-Identifier: Apache-2.0
// How a Tick says where a message's zero-share stands in the generators' streams.
#pragma once

#include <cstring>

#include "base/secret.h"
#include "cuda/device/host_driver.h"
#include "rep3/zero_stream.h"

namespace tkdc::cuda {

// Of layer 0; those of the others follow.
inline Kernel mask_kernel(ZeroGenerator generator) {
  return generator == ZeroGenerator::kChaCha20 ? Kernel::kMaskChaCha0 : Kernel::kMaskAes0;
}

// More than what is left of keys and streams below on the stack: by a key's expansion, and by a
// kernel's body, with the shared memory of a thread block in between.
inline constexpr std::size_t kExpansionStackOctets = 1024;
inline constexpr std::size_t kStackOctets = std::size_t{64} << 10;
static_assert(kStackOctets > 2 * sizeof(MaskByAes<0>::Shared));

// The keys as a ZeroStream has them. Words are little-endian here and on GPUs, as in RFC 8439.
inline void set_keys(Tick& tick, ZeroGenerator generator, const std::uint8_t* const (&keys)[2]) {
  for (int c = 0; c < 2; ++c) {
    if (generator == ZeroGenerator::kChaCha20) {
      std::memcpy(tick.chacha[c].word, keys[c], sizeof tick.chacha[c].word);
      continue;
    }
    std::uint8_t key[16];
    std::memcpy(key, keys[c], sizeof key);
    expand_schedule(key, tick.aes[c]);
    sodium_memzero(key, sizeof key);
    sodium_stackzero(kExpansionStackOctets);
  }
}

// `position` counts octets under the present keys.
inline void set_position(Tick& tick, ZeroGenerator generator, std::uint64_t position) {
  const bool chacha = generator == ZeroGenerator::kChaCha20;
  const std::uint32_t unit = chacha ? MaskByChaCha<0>::kUnitOctets : MaskByAes<0>::kUnitOctets;
  const std::uint32_t counters = chacha ? MaskByChaCha<0>::kCounters : MaskByAes<0>::kCounters;
  tick.first_counter = static_cast<Word>(position / unit * counters);
  tick.skip = static_cast<Word>(position % unit);
}

// A message's whole; the kernel of layer 0 that adds it.
inline Kernel set_zero_share(Tick& tick, const ZeroShare& zero) {
  set_keys(tick, zero.generator, zero.key);
  set_position(tick, zero.generator, zero.position);
  return mask_kernel(zero.generator);
}

// After a failure: the packet expects the zero-share in the message, and the device's body adds it
// here. `message` has whole words.
inline void mask_on_host(Kernel mask, int layer, View view, const Tick& tick,
                         SecretVector& message) {
  assert(message.size() % sizeof(Word) == 0);
  view.mine[layer] = reinterpret_cast<Word*>(message.data());
  run_on_host(mask + layer, view, tick);
  sodium_stackzero(kStackOctets);
}

}  // namespace tkdc::cuda
