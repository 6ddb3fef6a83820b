// SPDX-License-Identifier: Apache-2.0
// What garbling costs: the hash H and the gates, in implementations of which each CPU takes the
// fastest that it has. All give the same octets. half_gates/ has them, reference.cc reads like the
// paper; docs/protocols/19-garbling.md says why H is what it is.
//
//   H(x, i)  = π(σ(x) ⊕ i) ⊕ σ(x)      π: AES-128 under a public key; σ(l ‖ r) = (l ⊕ r) ‖ l
//   H2(x, i) = π(π(x) ⊕ i) ⊕ π(x)      where a party that may be changed has chosen x
//
// A scheme other than half-gates is another Kernel, with its own kTableBytes.
//
// Who calls: Garbler and Evaluator (garbler.h, evaluator.h), and who commits to labels.
// Thread-safe, no state. Secret: labels and Δ; no branch and no address depends on them. Gates,
// tweaks, keys of π, tables: public. Callers keep what they are asked to; nothing here fails.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"
#include "circuit/schedule.h"
#include "garble/label.h"

namespace tkdc::garble {

// AES-128's round keys of each instance; of one alone, four times the same. Public.
struct alignas(64) RoundKeys {
  static constexpr std::size_t kRounds = 10;
  Label of[kRounds + 1][kSideBySide];
};

// Instance s, 16 octets; with one key all four places get it.
void expand_keys(std::span<const Label> keys, RoundKeys& out);

// Octets of a table: T_G ‖ T_E (half_gates/reference.cc).
inline constexpr std::size_t kTableBytes = 2 * kLabelBytes;
// Tweaks of an AND: gate g of a batch has tweak + 2 g and tweak + 2 g + 1. The first is even.
inline constexpr std::size_t kTweaksPerAnd = 2;

// ANDs that do not depend on each other, of one or of kSideBySide instances.
struct AndBatch {
  std::span<const circuit::ScheduledGate> gates;
  Label* slots;  // instance s has slot k at slots[k * instances + s]; on a border of 64 octets
  std::size_t instances;
  const RoundKeys* keys;
  std::uint64_t tweak;  // the same numbers in each instance, under keys of their own
};

struct alignas(64) Deltas {
  Label of[kSideBySide];  // of one instance alone: four times the same
};

struct Kernel {
  std::string_view name;  // "vaes512", "aesni", "reference"

  // Slots hold zero-labels. Gate g's table of instance s comes to tables[s] + g * kTableBytes.
  void (*garble)(const AndBatch& batch, const Deltas& deltas, std::uint8_t* const* tables);
  // Slots hold one label of each wire.
  void (*evaluate)(const AndBatch& batch, const std::uint8_t* const* tables);
  // XORs in their order, the same for both.
  void (*add)(std::span<const circuit::ScheduledGate> gates, Label* slots, std::size_t instances);
  // out[k] = H(in[k], tweak + k) of instance 0; only of labels that nobody who may be changed
  // chose. `out` may be `in`.
  void (*hash)(const RoundKeys& keys, std::uint64_t tweak, std::span<const Label> in, Label* out);
  // out[k] = H2(in[k], tweak + k) of instance 0. `out` may be `in`.
  void (*hash_chosen)(const RoundKeys& keys, std::uint64_t tweak, std::span<const Label> in,
                      Label* out);
  // π of instance 0, in place: the floor under all above, and what known answers are held against.
  void (*permute)(const RoundKeys& keys, std::span<Label> blocks);
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

}  // namespace tkdc::garble
