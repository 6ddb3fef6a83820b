// SPDX-License-Identifier: Apache-2.0
// What tkdc bench starts three parties in one process from: random blocks and keys on shares, and
// what they are in the clear. No session does this: whoever has it knows every secret.
#pragma once

#include "cuda/device/resident.h"

namespace tkdc::bench {

inline constexpr std::size_t kBlocksPerKey = 16;

// The three components of random octets.
using Components = std::array<SecretVector, 3>;

Bytes opened(const Components& of, std::size_t from, std::size_t octets);

struct BenchStart {
  Components blocks;
  std::vector<Components> keys;
  std::vector<cuda::ResidentInput> inputs;  // of three parties
};

Result<BenchStart> make_start(int aes, std::size_t blocks);
// Others, for the next lane.
void draw_component_keys(BenchStart& start);

}  // namespace tkdc::bench
