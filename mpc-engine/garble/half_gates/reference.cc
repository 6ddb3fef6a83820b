// SPDX-License-Identifier: Apache-2.0
// Half-gates (Zahur, Rosulek, Evans, "Two Halves Make a Whole", EUROCRYPT 2015, ePrint 2014/756,
// figure 2), gate by gate in plain C++: what every other kernel is compared with, and what runs on
// CPUs without AES instructions.
//
// An AND of wires a and b with zero-labels A and B, tweaks j and j' = j + 1:
//
//   garbler                                     evaluator, with labels A*, B*
//   T_G = H(A, j) ⊕ H(A ⊕ Δ, j) ⊕ lsb(B) Δ
//   W_G = H(A, j) ⊕ lsb(A) T_G                  W_G = H(A*, j) ⊕ lsb(A*) T_G
//   T_E = H(B, j') ⊕ H(B ⊕ Δ, j') ⊕ A
//   W_E = H(B, j') ⊕ lsb(B) (T_E ⊕ A)           W_E = H(B*, j') ⊕ lsb(B*) (T_E ⊕ A*)
//   C   = W_G ⊕ W_E                             C*  = W_G ⊕ W_E
//
// Where a complement is meant, the garbler takes A ⊕ Δ for A: the evaluator's label is the same.
#include <algorithm>
#include <cstring>

#include "garble/half_gates/bitsliced_aes.h"

namespace tkdc::garble {
namespace {

using circuit::ScheduledGate;

Label load(const std::uint8_t* from) {
  Label label;
  std::memcpy(&label, from, kLabelBytes);
  return label;
}
void store(std::uint8_t* to, const Label& label) { std::memcpy(to, &label, kLabelBytes); }

Label sigma(const Label& x) { return {x.high, x.high ^ x.low}; }
Label tweaked(const Label& x, std::uint64_t tweak) { return {x.low ^ tweak, x.high}; }

struct Hashed {
  Label x;
  std::uint64_t tweak;
};

template <std::size_t N>
std::array<Label, N> hashes(const RoundKeys& keys, std::size_t instance,
                            const std::array<Hashed, N>& in) {
  static_assert(N <= kSlicedBlocks);
  std::array<Label, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = tweaked(sigma(in[k].x), in[k].tweak);
  encrypt_sliced(keys, instance, out);
  for (std::size_t k = 0; k < N; ++k) out[k] = out[k] ^ sigma(in[k].x);
  return out;
}

std::size_t slot_of(std::uint32_t operand) { return operand & ~ScheduledGate::kComplement; }

void garble(const AndBatch& batch, const Deltas& deltas, std::uint8_t* const* tables) {
  for (std::size_t g = 0; g < batch.gates.size(); ++g)
    for (std::size_t s = 0; s < batch.instances; ++s) {
      const ScheduledGate& gate = batch.gates[g];
      const Label delta = deltas.of[s];
      const auto zero_label = [&](std::uint32_t operand) {
        return batch.slots[slot_of(operand) * batch.instances + s] ^ delta.where(operand >> 31);
      };
      const Label a = zero_label(gate.a), b = zero_label(gate.b);
      const std::uint64_t j = batch.tweak + kTweaksPerAnd * g;
      const auto [ha0, ha1, hb0, hb1] =
          hashes<4>(*batch.keys, s, {{{a, j}, {a ^ delta, j}, {b, j + 1}, {b ^ delta, j + 1}}});
      const Label table_g = ha0 ^ ha1 ^ delta.where(b.colour());
      const Label table_e = hb0 ^ hb1 ^ a;
      const Label half_g = ha0 ^ table_g.where(a.colour());
      const Label half_e = hb0 ^ (table_e ^ a).where(b.colour());
      store(tables[s] + g * kTableBytes, table_g);
      store(tables[s] + g * kTableBytes + kLabelBytes, table_e);
      batch.slots[gate.out * batch.instances + s] = half_g ^ half_e;
    }
}

void evaluate(const AndBatch& batch, const std::uint8_t* const* tables) {
  for (std::size_t g = 0; g < batch.gates.size(); ++g)
    for (std::size_t s = 0; s < batch.instances; ++s) {
      const ScheduledGate& gate = batch.gates[g];
      const Label a = batch.slots[slot_of(gate.a) * batch.instances + s];
      const Label b = batch.slots[slot_of(gate.b) * batch.instances + s];
      const Label table_g = load(tables[s] + g * kTableBytes);
      const Label table_e = load(tables[s] + g * kTableBytes + kLabelBytes);
      const std::uint64_t j = batch.tweak + kTweaksPerAnd * g;
      const auto [ha, hb] = hashes<2>(*batch.keys, s, {{{a, j}, {b, j + 1}}});
      batch.slots[gate.out * batch.instances + s] =
          ha ^ table_g.where(a.colour()) ^ hb ^ (table_e ^ a).where(b.colour());
    }
}

void add(std::span<const ScheduledGate> gates, Label* slots, std::size_t instances) {
  for (const ScheduledGate& gate : gates)
    for (std::size_t s = 0; s < instances; ++s)
      slots[gate.out * instances + s] =
          slots[gate.a * instances + s] ^ slots[gate.b * instances + s];
}

void hash(const RoundKeys& keys, std::uint64_t tweak, std::span<const Label> in, Label* out) {
  for (std::size_t k = 0; k < in.size(); ++k)
    out[k] = hashes<1>(keys, 0, {{{in[k], tweak + k}}})[0];
}

void hash_chosen(const RoundKeys& keys, std::uint64_t tweak, std::span<const Label> in,
                 Label* out) {
  for (std::size_t k = 0; k < in.size(); k += kSlicedBlocks) {
    const std::size_t some = std::min(kSlicedBlocks, in.size() - k);
    std::array<Label, kSlicedBlocks> inner, outer;
    std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(k), some, inner.begin());
    encrypt_sliced(keys, 0, std::span(inner).first(some));
    for (std::size_t n = 0; n < some; ++n) outer[n] = tweaked(inner[n], tweak + k + n);
    encrypt_sliced(keys, 0, std::span(outer).first(some));
    for (std::size_t n = 0; n < some; ++n) out[k + n] = outer[n] ^ inner[n];
  }
}

void permute(const RoundKeys& keys, std::span<Label> blocks) {
  for (std::size_t k = 0; k < blocks.size(); k += kSlicedBlocks)
    encrypt_sliced(keys, 0, blocks.subspan(k, std::min(kSlicedBlocks, blocks.size() - k)));
}

constexpr Kernel kKernel = {"reference", garble, evaluate, add, hash, hash_chosen, permute};

}  // namespace

const Kernel* kernel_reference() { return &kKernel; }

}  // namespace tkdc::garble
