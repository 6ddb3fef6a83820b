// SPDX-License-Identifier: Apache-2.0
// 128 authenticated bits as one: of bits x_j with MACs and keys, elements of GF(2^128)
//
//   own = Σ x_j X^j      mac = Σ X^j mac_j      key = Σ X^j key_j      mac = (peer's key) ⊕ own ·
//   (peer's Δ)
//
// So three labels are kept for 256. Sums of blocks, and products with what both know, are those of
// their fields. A block of fewer bits ends with zeros. Secret: all of it.
#pragma once

#include "ot/field.h"
#include "pair/auth_bit.h"

namespace tkdc::pair {

inline constexpr std::size_t kBlockBits = 128;

struct AuthBlock {
  Label own, mac, key;
  friend AuthBlock operator^(const AuthBlock& a, const AuthBlock& b) {
    return {a.own ^ b.own, a.mac ^ b.mac, a.key ^ b.key};
  }
};
using AuthBlocks = std::vector<AuthBlock, WipingAllocator<AuthBlock>>;

constexpr std::size_t blocks_for(std::size_t bits) { return (bits + kBlockBits - 1) / kBlockBits; }

// At most kBlockBits of them.
inline AuthBlock block_of(std::span<const AuthBit> bits) {
  AuthBlock out;
  for (std::size_t j = bits.size(); j-- > 0;) {
    out.mac = ot::times_x(out.mac) ^ bits[j].mac;
    out.key = ot::times_x(out.key) ^ bits[j].key;
    out.own = ot::times_x(out.own) ^ Label { bits[j].own(), 0 };
  }
  return out;
}

inline AuthBlocks blocks_of(std::span<const AuthBit> bits) {
  AuthBlocks out;
  for (std::size_t first = 0; first < bits.size(); first += kBlockBits)
    out.push_back(block_of(bits.subspan(first, std::min(kBlockBits, bits.size() - first))));
  return out;
}

// Bits, 0 or 1 each, as blocks.
inline Labels elements_of(std::span<const std::uint8_t> bits) {
  Labels out(blocks_for(bits.size()));
  for (std::size_t k = 0; k < bits.size(); ++k) {
    Label& block = out[k / kBlockBits];
    std::uint64_t& word = k % kBlockBits < 64 ? block.low : block.high;
    word |= std::uint64_t{bits[k]} << (k % 64);
  }
  return out;
}

// The bit j of a block.
inline std::uint8_t bit_of(const Label& block, std::size_t j) {
  return static_cast<std::uint8_t>((j < 64 ? block.low : block.high) >> (j % 64) & 1);
}

}  // namespace tkdc::pair
