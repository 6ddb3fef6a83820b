// SPDX-License-Identifier: Apache-2.0
// What an OT extension costs, in implementations of which each CPU takes the fastest that it has.
// All give the same octets. kernels/reference.cc reads like
// docs/protocols/21-oblivious-transfer.md.
//
// Columns are strings of bits, bit j of a column in octet j / 8 at place j % 8; a row is bit j of
// 128 columns as a label. Rows come in blocks of 128.
//
// Who calls: ExtensionSender and ExtensionReceiver. Thread-safe, no state. Secret: everything but
// lengths and the check's coefficients; no branch and no address depends on it. Nothing here fails.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "garble/label.h"

namespace tkdc::ot {

using garble::kLabelBytes;
using garble::Label;
using Labels = std::vector<Label, WipingAllocator<Label>>;

inline constexpr std::size_t kColumns = 128;
inline constexpr std::size_t kBlockRows = 128;
inline constexpr std::size_t kBlockBytes = kBlockRows / 8;
// Expansions and transpositions come in multiples of so many blocks.
inline constexpr std::size_t kBlocksAtOnce = 16;
// 2^k leaves are expanded into k columns.
inline constexpr unsigned kLeastLevels = 2, kMostLevels = 8;

// AES-128's round keys of a leaf: its stream is AES in counter mode.
struct LeafKeys {
  static constexpr std::size_t kRounds = 10;
  Label round[kRounds + 1];
};

// Of leaves x = 0 … 2^levels − 1, in blocks first_block, first_block + 1, …:
//   sum     = ⊕_x stream(x)
//   bits[b] = ⊕_{x with bit b} stream(x)
struct Expansion {
  const LeafKeys* leaves;
  unsigned levels;
  std::uint64_t first_block;
  std::size_t blocks;
  std::uint8_t* sum;  // null: leaf 0 is not known, nor needed
  std::uint8_t* const* bits;
};

// Column c begins at data + c * stride; its border is one of 64 octets.
struct Columns {
  std::uint8_t* data;
  std::size_t stride;
};

struct Kernel {
  std::string_view name;  // "vaes512", "aesni", "reference"

  void (*expand_keys)(std::span<const Label> seeds, LeafKeys* out);
  void (*expand)(const Expansion& expansion);
  // to ^= what where `bit` is 1.
  void (*add_where)(std::uint8_t* to, const std::uint8_t* what, std::size_t octets,
                    std::uint64_t bit);
  // out[c] = Σ_b factors[b] · block b of column c, in GF(2)[X] modulo X^128 + X^7 + X^2 + X + 1,
  // bit i being X^i. A multiple of kBlocksAtOnce.
  void (*fold)(const Columns& columns, std::size_t count, std::span<const Label> factors,
               Label* out);
  // Rows of `blocks` blocks.
  void (*transpose)(const Columns& columns, std::size_t blocks, Label* rows);
};

// Those that this CPU has, the fastest first.
std::span<const Kernel* const> kernels();
inline const Kernel& fastest_kernel() { return *kernels().front(); }
// By name, or "auto". Error: names those that there are.
Result<const Kernel*> find_kernel(std::string_view name);

// The implementations; null where the CPU lacks their instructions.
const Kernel* kernel_reference();
const Kernel* kernel_aesni();
const Kernel* kernel_vaes512();

// A product of 255 bits, low half first, modulo the polynomial of fold().
inline Label reduced(Label low, Label high) {
  // X^128 = X^7 + X^2 + X + 1; the seven bits that come out again are multiplied once more.
  const auto times = [](std::uint64_t word) { return word ^ word << 1 ^ word << 2 ^ word << 7; };
  const auto over = [](std::uint64_t word) { return word >> 63 ^ word >> 62 ^ word >> 57; };
  return {low.low ^ times(high.low) ^ times(over(high.high)),
          low.high ^ times(high.high) ^ over(high.low)};
}

}  // namespace tkdc::ot
