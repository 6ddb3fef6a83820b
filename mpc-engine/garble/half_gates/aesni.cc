// SPDX-License-Identifier: Apache-2.0
// Half-gates by AES-NI: one label in a register, one instance after the other.
#include <immintrin.h>

#include "base/cpu_features.h"
#include "garble/kernel.h"

namespace tkdc::garble {
namespace {

using circuit::ScheduledGate;

struct Xmm {
  using V = __m128i;
  static V load(const void* from) { return _mm_load_si128(static_cast<const __m128i*>(from)); }
  static V add(V a, V b) { return _mm_xor_si128(a, b); }
  static V add(V a, V b, V c) { return add(add(a, b), c); }
  static V one() { return _mm_set_epi64x(0, 1); }
  static V round(V x, V key) { return _mm_aesenc_si128(x, key); }
  static V last_round(V x, V key) { return _mm_aesenclast_si128(x, key); }
  static V sigma(V x) {
    return add(_mm_shuffle_epi32(x, 0x4e), _mm_and_si128(x, _mm_set_epi64x(-1, 0)));
  }
  // base ⊕ what, where the label's colour is 1.
  static V add_where(V base, V label, V what) {
    const V colour = _mm_shuffle_epi32(_mm_slli_epi32(label, 31), 0);
    return add(base, _mm_and_si128(_mm_srai_epi32(colour, 31), what));
  }
};

#include "garble/half_gates/vector.inl"

// Instance s of `instances`, gate by gate.
template <class Octet>
struct OneLabel {
  using R = Xmm;
  using V = R::V;
  static constexpr std::size_t kGates = 1, kGarbledAtOnce = 2, kEvaluatedAtOnce = 4;

  const AndBatch& batch;
  const Label* delta_of;
  Octet* tables;
  std::size_t s;
  alignas(16) Label complement[2];

  OneLabel(const AndBatch& of, const Label* deltas, Octet* to, std::size_t instance)
      : batch(of), delta_of(deltas), tables(to),
        s(instance), complement{{}, deltas == nullptr ? Label() : deltas[instance]} {}

  V key(std::size_t round) const { return R::load(&batch.keys->of[round][s]); }
  V delta() const { return R::load(delta_of + s); }
  static V tweak(std::uint64_t first) { return _mm_set_epi64x(0, static_cast<long long>(first)); }
  template <bool kComplements>
  V operand(const ScheduledGate* gate, std::uint32_t ScheduledGate::*which, std::size_t) const {
    const std::size_t slot = gate->*which & ~ScheduledGate::kComplement;
    const V label = R::load(batch.slots + slot * batch.instances + s);
    if constexpr (!kComplements) return label;
    return R::add(label, R::load(complement + (gate->*which >> 31)));
  }
  void put(const ScheduledGate* gate, V label, std::size_t) {
    _mm_store_si128(reinterpret_cast<__m128i*>(batch.slots + gate->out * batch.instances + s),
                    label);
  }
  void put_tables(std::size_t g, V table_g, V table_e, std::size_t) {
    auto* to = reinterpret_cast<__m128i*>(tables + g * kTableBytes);
    _mm_storeu_si128(to, table_g);
    _mm_storeu_si128(to + 1, table_e);
  }
  void get_tables(std::size_t g, V& table_g, V& table_e, std::size_t) const {
    const auto* from = reinterpret_cast<const __m128i*>(tables + g * kTableBytes);
    table_g = _mm_loadu_si128(from);
    table_e = _mm_loadu_si128(from + 1);
  }
};

void garble(const AndBatch& batch, const Deltas& deltas, std::uint8_t* const* tables) {
  for (std::size_t s = 0; s < batch.instances; ++s)
    garble_all(OneLabel<std::uint8_t>(batch, deltas.of, tables[s], s), batch.gates, batch.tweak);
}

void evaluate(const AndBatch& batch, const std::uint8_t* const* tables) {
  for (std::size_t s = 0; s < batch.instances; ++s)
    evaluate_all(OneLabel<const std::uint8_t>(batch, nullptr, tables[s], s), batch.gates,
                 batch.tweak);
}

void add(std::span<const ScheduledGate> gates, Label* slots, std::size_t instances) {
  auto* at = reinterpret_cast<__m128i*>(slots);
  for (const ScheduledGate& gate : gates)
    for (std::size_t s = 0; s < instances; ++s)
      _mm_store_si128(at + gate.out * instances + s,
                      _mm_xor_si128(_mm_load_si128(at + gate.a * instances + s),
                                    _mm_load_si128(at + gate.b * instances + s)));
}

// What permute_all() needs of a shape.
struct Blocks {
  using R = Xmm;
  using V = R::V;
  const RoundKeys& keys;
  V key(std::size_t round) const { return R::load(&keys.of[round][0]); }
};

constexpr std::size_t kAtOnce = 8, kChosenAtOnce = 4;

template <std::size_t N>
void permute_blocks(const Blocks& shape, Label* blocks) {
  __m128i x[N];
  for (std::size_t k = 0; k < N; ++k) x[k] = Xmm::load(blocks + k);
  permute_all<Blocks, N>(shape, x);
  for (std::size_t k = 0; k < N; ++k) _mm_store_si128(reinterpret_cast<__m128i*>(blocks + k), x[k]);
}

void permute(const RoundKeys& keys, std::span<Label> blocks) {
  const Blocks shape{keys};
  std::size_t k = 0;
  for (; k + kAtOnce <= blocks.size(); k += kAtOnce)
    permute_blocks<kAtOnce>(shape, blocks.data() + k);
  for (; k < blocks.size(); ++k) permute_blocks<1>(shape, blocks.data() + k);
}

void hash(const RoundKeys& keys, std::uint64_t tweak, std::span<const Label> in, Label* out) {
  const Blocks shape{keys};
  for (std::size_t k = 0; k < in.size(); ++k) {
    const __m128i sigma = Xmm::sigma(Xmm::load(&in[k]));
    __m128i x[1] = {Xmm::add(sigma, OneLabel<std::uint8_t>::tweak(tweak + k))};
    permute_all<Blocks, 1>(shape, x);
    _mm_store_si128(reinterpret_cast<__m128i*>(out + k), Xmm::add(x[0], sigma));
  }
}

template <std::size_t N>
void hash_chosen_blocks(const Blocks& shape, std::uint64_t tweak, const Label* in, Label* out) {
  __m128i inner[N], x[N];
  for (std::size_t k = 0; k < N; ++k) inner[k] = Xmm::load(in + k);
  permute_all<Blocks, N>(shape, inner);
  for (std::size_t k = 0; k < N; ++k)
    x[k] = Xmm::add(inner[k], OneLabel<std::uint8_t>::tweak(tweak + k));
  permute_all<Blocks, N>(shape, x);
  for (std::size_t k = 0; k < N; ++k)
    _mm_store_si128(reinterpret_cast<__m128i*>(out + k), Xmm::add(x[k], inner[k]));
}

void hash_chosen(const RoundKeys& keys, std::uint64_t tweak, std::span<const Label> in,
                 Label* out) {
  const Blocks shape{keys};
  std::size_t k = 0;
  for (; k + kChosenAtOnce <= in.size(); k += kChosenAtOnce)
    hash_chosen_blocks<kChosenAtOnce>(shape, tweak + k, &in[k], out + k);
  for (; k < in.size(); ++k) hash_chosen_blocks<1>(shape, tweak + k, &in[k], out + k);
}

constexpr Kernel kKernel = {"aesni", garble, evaluate, add, hash, hash_chosen, permute};

}  // namespace

const Kernel* kernel_aesni() { return cpu_has_aes() ? &kKernel : nullptr; }

}  // namespace tkdc::garble
