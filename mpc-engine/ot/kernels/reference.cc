// SPDX-License-Identifier: Apache-2.0
// Leaf by leaf and bit by bit in plain C++: what every other kernel is compared with, and what runs
// on CPUs without AES instructions.
#include <cstring>

#include "garble/kernel.h"
#include "ot/kernel.h"

namespace tkdc::ot {
namespace {

void expand_keys(std::span<const Label> seeds, LeafKeys* out) {
  garble::RoundKeys keys;
  for (std::size_t k = 0; k < seeds.size(); ++k) {
    garble::expand_keys(seeds.subspan(k, 1), keys);
    for (std::size_t round = 0; round <= LeafKeys::kRounds; ++round)
      out[k].round[round] = keys.of[round][0];
  }
  sodium_memzero(&keys, sizeof keys);
}

void add(std::uint8_t* to, const Label& what) {
  Label sum;
  std::memcpy(&sum, to, kLabelBytes);
  sum = sum ^ what;
  std::memcpy(to, &sum, kLabelBytes);
}

void expand(const Expansion& e) {
  if (e.sum != nullptr) std::memset(e.sum, 0, e.blocks * kBlockBytes);
  for (unsigned b = 0; b < e.levels; ++b) std::memset(e.bits[b], 0, e.blocks * kBlockBytes);
  const garble::Kernel& aes = *garble::kernel_reference();
  garble::RoundKeys keys;
  Label stream[4];
  for (std::size_t x = e.sum == nullptr ? 1 : 0; x < std::size_t{1} << e.levels; ++x) {
    for (std::size_t round = 0; round <= LeafKeys::kRounds; ++round)
      for (Label& place : keys.of[round]) place = e.leaves[x].round[round];
    for (std::size_t block = 0; block < e.blocks; block += std::size(stream)) {
      for (std::size_t k = 0; k < std::size(stream); ++k)
        stream[k] = {e.first_block + block + k, 0};
      aes.permute(keys, std::span<Label>(stream));
      for (std::size_t k = 0; k < std::size(stream); ++k) {
        const std::size_t at = (block + k) * kBlockBytes;
        if (e.sum != nullptr) add(e.sum + at, stream[k]);
        for (unsigned b = 0; b < e.levels; ++b)
          if ((x >> b & 1) != 0) add(e.bits[b] + at, stream[k]);
      }
    }
  }
  sodium_memzero(&keys, sizeof keys);
  sodium_memzero(stream, sizeof stream);
}

void add_where(std::uint8_t* to, const std::uint8_t* what, std::size_t octets, std::uint64_t bit) {
  const auto mask = static_cast<std::uint8_t>(0 - bit);
  for (std::size_t k = 0; k < octets; ++k) to[k] ^= what[k] & mask;
}

// `factor` is public; what it is multiplied with is not.
Label product(Label factor, const Label& value) {
  Label low, high;
  for (unsigned i = 0; i < 128; ++i) {
    const std::uint64_t bit = (i < 64 ? factor.low >> i : factor.high >> (i - 64)) & 1;
    // value · X^i in four words.
    std::uint64_t words[4] = {};
    const unsigned word = i / 64, shift = i % 64;
    words[word] = value.low << shift;
    words[word + 1] = value.high << shift;
    if (shift > 0) {
      words[word + 1] |= value.low >> (64 - shift);
      words[word + 2] |= value.high >> (64 - shift);
    }
    low = low ^ Label { words[0], words[1] }.where(bit);
    high = high ^ Label { words[2], words[3] }.where(bit);
  }
  return reduced(low, high);
}

void fold(const Columns& columns, std::size_t count, std::span<const Label> factors, Label* out) {
  for (std::size_t c = 0; c < count; ++c) {
    out[c] = {};
    for (std::size_t b = 0; b < factors.size(); ++b) {
      Label block;
      std::memcpy(&block, columns.data + c * columns.stride + b * kBlockBytes, kLabelBytes);
      out[c] = out[c] ^ product(factors[b], block);
    }
  }
}

void transpose(const Columns& columns, std::size_t blocks, Label* rows) {
  for (std::size_t j = 0; j < blocks * kBlockRows; ++j) {
    std::uint64_t words[2] = {};
    for (std::size_t c = 0; c < kColumns; ++c) {
      const std::uint8_t octet = columns.data[c * columns.stride + j / 8];
      words[c / 64] |= std::uint64_t{octet >> (j % 8) & 1u} << (c % 64);
    }
    rows[j] = {words[0], words[1]};
  }
}

constexpr Kernel kKernel = {"reference", expand_keys, expand, add_where, fold, transpose};

}  // namespace

const Kernel* kernel_reference() { return &kKernel; }

}  // namespace tkdc::ot
