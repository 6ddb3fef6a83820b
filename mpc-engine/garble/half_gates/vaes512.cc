// SPDX-License-Identifier: Apache-2.0
// Half-gates by VAES on AVX-512: four labels in a register. They are one wire's of four instances,
// or, of one instance alone, those of four gates, which are gathered.
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "base/cpu_features.h"
#include "garble/kernel.h"

namespace tkdc::garble {
namespace {

using circuit::ScheduledGate;

struct Zmm {
  using V = __m512i;
  static V load(const void* from) { return _mm512_load_si512(from); }
  static V add(V a, V b) { return _mm512_xor_si512(a, b); }
  static V add(V a, V b, V c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
  static V one() { return _mm512_set_epi64(0, 1, 0, 1, 0, 1, 0, 1); }
  static V round(V x, V key) { return _mm512_aesenc_epi128(x, key); }
  static V last_round(V x, V key) { return _mm512_aesenclast_epi128(x, key); }
  static V sigma(V x) {  // halves change places, ⊕ x in the upper
    const V turned = _mm512_shuffle_epi32(x, _MM_PERM_BADC);
    return _mm512_mask_xor_epi64(turned, 0xaa, turned, x);
  }
  // base ⊕ what, where the label's colour is 1.
  static V add_where(V base, V label, V what) {
    const V colour = _mm512_shuffle_epi32(label, _MM_PERM_AAAA);
    const __mmask16 set = _mm512_test_epi32_mask(colour, _mm512_set1_epi32(1));
    return _mm512_mask_xor_epi32(base, set, base, what);
  }
};

#include "garble/half_gates/vector.inl"

const Label* label_at(const AndBatch& batch, std::uint32_t operand, std::size_t stride) {
  return batch.slots + (operand & ~ScheduledGate::kComplement) * stride;
}

// Tables of four gates or instances: T_G of all, T_E of all, from or to two after two.
struct Tables {
  __m512i lower, upper;
};
inline Tables interleaved(__m512i table_g, __m512i table_e) {
  const __m512i lower = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
  const __m512i upper = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
  return {_mm512_permutex2var_epi64(table_g, lower, table_e),
          _mm512_permutex2var_epi64(table_g, upper, table_e)};
}
inline Tables separated(__m512i lower, __m512i upper) {
  const __m512i g = _mm512_set_epi64(13, 12, 9, 8, 5, 4, 1, 0);
  const __m512i e = _mm512_set_epi64(15, 14, 11, 10, 7, 6, 3, 2);
  return {_mm512_permutex2var_epi64(lower, g, upper), _mm512_permutex2var_epi64(lower, e, upper)};
}

// What both shapes have.
template <class Octet>
struct Common {
  using R = Zmm;
  using V = R::V;
  static constexpr std::size_t kGarbledAtOnce = 2, kEvaluatedAtOnce = 4;

  const AndBatch& batch;
  Octet* const* tables;
  V delta_of;
  Deltas complement[2];

  Common(const AndBatch& of, const Deltas* deltas, Octet* const* to)
      : batch(of), tables(to), delta_of(_mm512_setzero_si512()) {
    if (deltas == nullptr) return;
    delta_of = R::load(deltas);
    complement[1] = *deltas;
  }
  V key(std::size_t round) const { return R::load(batch.keys->of[round]); }
  V delta() const { return delta_of; }
};

// One gate of kSideBySide instances.
template <class Octet>
struct FourInstances : Common<Octet> {
  using R = Zmm;
  using V = R::V;
  static constexpr std::size_t kGates = 1;
  using Common<Octet>::Common;

  static V tweak(std::uint64_t first) {
    return _mm512_maskz_set1_epi64(0x55, static_cast<long long>(first));
  }
  template <bool kComplements>
  V operand(const ScheduledGate* gate, std::uint32_t ScheduledGate::*which, std::size_t) const {
    const V label = R::load(label_at(this->batch, gate->*which, kSideBySide));
    if constexpr (!kComplements) return label;
    return R::add(label, R::load(this->complement + (gate->*which >> 31)));
  }
  void put(const ScheduledGate* gate, V label, std::size_t) {
    _mm512_store_si512(this->batch.slots + gate->out * kSideBySide, label);
  }
  void put_tables(std::size_t g, V table_g, V table_e, std::size_t) {
    const Tables two = interleaved(table_g, table_e);
    const auto to = [&](std::size_t s) {
      return reinterpret_cast<__m256i*>(this->tables[s] + g * kTableBytes);
    };
    _mm256_storeu_si256(to(0), _mm512_castsi512_si256(two.lower));
    _mm256_storeu_si256(to(1), _mm512_extracti64x4_epi64(two.lower, 1));
    _mm256_storeu_si256(to(2), _mm512_castsi512_si256(two.upper));
    _mm256_storeu_si256(to(3), _mm512_extracti64x4_epi64(two.upper, 1));
  }
  void get_tables(std::size_t g, V& table_g, V& table_e, std::size_t) const {
    const auto from = [&](std::size_t s) {
      return _mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(this->tables[s] + g * kTableBytes));
    };
    const V lower = _mm512_inserti64x4(_mm512_castsi256_si512(from(0)), from(1), 1);
    const V upper = _mm512_inserti64x4(_mm512_castsi256_si512(from(2)), from(3), 1);
    const Tables both = separated(lower, upper);
    table_g = both.lower;
    table_e = both.upper;
  }
};

// Four gates of one instance; fewer in a batch's last unit, which then has the last gate's operands
// again and forgets what comes of them.
template <class Octet>
struct FourGates : Common<Octet> {
  using R = Zmm;
  using V = R::V;
  static constexpr std::size_t kGates = 4;
  using Common<Octet>::Common;

  static V tweak(std::uint64_t first) {
    return _mm512_add_epi64(_mm512_maskz_set1_epi64(0x55, static_cast<long long>(first)),
                            _mm512_set_epi64(0, 6, 0, 4, 0, 2, 0, 0));
  }
  template <bool kComplements>
  V operand(const ScheduledGate* gates, std::uint32_t ScheduledGate::*which,
            std::size_t part) const {
    const auto one = [&](std::size_t k) {
      const std::uint32_t from = gates[std::min(k, part - 1)].*which;
      const __m128i label =
          _mm_load_si128(reinterpret_cast<const __m128i*>(label_at(this->batch, from, 1)));
      if constexpr (!kComplements) return label;
      return _mm_xor_si128(
          label, _mm_load_si128(reinterpret_cast<const __m128i*>(this->complement + (from >> 31))));
    };
    const __m256i lower = _mm256_inserti128_si256(_mm256_castsi128_si256(one(0)), one(1), 1);
    const __m256i upper = _mm256_inserti128_si256(_mm256_castsi128_si256(one(2)), one(3), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
  }
  void put(const ScheduledGate* gates, V labels, std::size_t part) {
    const auto to = [&](std::size_t k) {
      return reinterpret_cast<__m128i*>(this->batch.slots + gates[k].out);
    };
    _mm_store_si128(to(0), _mm512_castsi512_si128(labels));
    if (part > 1) _mm_store_si128(to(1), _mm512_extracti64x2_epi64(labels, 1));
    if (part > 2) _mm_store_si128(to(2), _mm512_extracti64x2_epi64(labels, 2));
    if (part > 3) _mm_store_si128(to(3), _mm512_extracti64x2_epi64(labels, 3));
  }
  // 64 octets of which the tables have fewer where `part` says so.
  static __mmask8 first_half(std::size_t part) { return part > 1 ? 0xff : 0x0f; }
  static __mmask8 second_half(std::size_t part) { return part > 3 ? 0xff : part > 2 ? 0x0f : 0; }

  void put_tables(std::size_t g, V table_g, V table_e, std::size_t part) {
    const Tables two = interleaved(table_g, table_e);
    std::uint8_t* to = this->tables[0] + g * kTableBytes;
    _mm512_mask_storeu_epi64(to, first_half(part), two.lower);
    _mm512_mask_storeu_epi64(to + 64, second_half(part), two.upper);
  }
  void get_tables(std::size_t g, V& table_g, V& table_e, std::size_t part) const {
    const std::uint8_t* from = this->tables[0] + g * kTableBytes;
    const Tables both = separated(_mm512_maskz_loadu_epi64(first_half(part), from),
                                  _mm512_maskz_loadu_epi64(second_half(part), from + 64));
    table_g = both.lower;
    table_e = both.upper;
  }
};

void garble(const AndBatch& batch, const Deltas& deltas, std::uint8_t* const* tables) {
  if (batch.instances == 1)
    garble_all(FourGates<std::uint8_t>(batch, &deltas, tables), batch.gates, batch.tweak);
  else
    garble_all(FourInstances<std::uint8_t>(batch, &deltas, tables), batch.gates, batch.tweak);
}

void evaluate(const AndBatch& batch, const std::uint8_t* const* tables) {
  using Octet = const std::uint8_t;
  if (batch.instances == 1)
    evaluate_all(FourGates<Octet>(batch, nullptr, tables), batch.gates, batch.tweak);
  else
    evaluate_all(FourInstances<Octet>(batch, nullptr, tables), batch.gates, batch.tweak);
}

// A batch of few XORs is mostly a chain, in which each waits for the last one's store: of half a
// register that comes through in two thirds of the time. Long batches cost a third less in whole
// registers.
constexpr std::size_t kFewXors = 128;

void add_one_instance(std::span<const ScheduledGate> gates, __m128i* slots) {
  for (const ScheduledGate& gate : gates)
    _mm_store_si128(slots + gate.out,
                    _mm_xor_si128(_mm_load_si128(slots + gate.a), _mm_load_si128(slots + gate.b)));
}

void add_by_halves(std::span<const ScheduledGate> gates, __m256i* slots) {
  for (const ScheduledGate& gate : gates) {
    const __m256i *a = slots + std::size_t{2} * gate.a, *b = slots + std::size_t{2} * gate.b;
    __m256i* out = slots + std::size_t{2} * gate.out;
    for (int half = 0; half < 2; ++half)
      _mm256_store_si256(
          out + half, _mm256_xor_si256(_mm256_load_si256(a + half), _mm256_load_si256(b + half)));
  }
}

void add_four_instances(std::span<const ScheduledGate> gates, __m512i* slots) {
  for (const ScheduledGate& gate : gates)
    _mm512_store_si512(slots + gate.out, _mm512_xor_si512(_mm512_load_si512(slots + gate.a),
                                                          _mm512_load_si512(slots + gate.b)));
}

void add(std::span<const ScheduledGate> gates, Label* slots, std::size_t instances) {
  if (instances == 1)
    add_one_instance(gates, reinterpret_cast<__m128i*>(slots));
  else if (gates.size() < kFewXors)
    add_by_halves(gates, reinterpret_cast<__m256i*>(slots));
  else
    add_four_instances(gates, reinterpret_cast<__m512i*>(slots));
}

// What permute_all() needs of a shape: all blocks under instance 0's key.
struct Blocks {
  using R = Zmm;
  using V = R::V;
  explicit Blocks(const RoundKeys& keys) {
    for (std::size_t round = 0; round <= RoundKeys::kRounds; ++round)
      keys_[round] = _mm512_broadcast_i32x4(
          _mm_load_si128(reinterpret_cast<const __m128i*>(&keys.of[round][0])));
  }
  V key(std::size_t round) const { return keys_[round]; }

 private:
  V keys_[RoundKeys::kRounds + 1];
};

constexpr std::size_t kBlocks = 4, kAtOnce = 8, kChosenAtOnce = 4;

template <std::size_t N>
inline void permute_blocks(const Blocks& shape, Label* blocks) {
  __m512i x[N];
  for (std::size_t k = 0; k < N; ++k) x[k] = _mm512_loadu_si512(blocks + kBlocks * k);
  permute_all<Blocks, N>(shape, x);
  for (std::size_t k = 0; k < N; ++k) _mm512_storeu_si512(blocks + kBlocks * k, x[k]);
}

void permute(const RoundKeys& keys, std::span<Label> blocks) {
  const Blocks shape(keys);
  std::size_t k = 0;
  for (; k + kBlocks * kAtOnce <= blocks.size(); k += kBlocks * kAtOnce)
    permute_blocks<kAtOnce>(shape, blocks.data() + k);
  for (; k + kBlocks <= blocks.size(); k += kBlocks) permute_blocks<1>(shape, blocks.data() + k);
  if (k == blocks.size()) return;
  const auto left = static_cast<__mmask8>((1u << 2 * (blocks.size() - k)) - 1);
  __m512i x[1] = {_mm512_maskz_loadu_epi64(left, blocks.data() + k)};
  permute_all<Blocks, 1>(shape, x);
  _mm512_mask_storeu_epi64(blocks.data() + k, left, x[0]);
}

void hash(const RoundKeys& keys, std::uint64_t tweak, std::span<const Label> in, Label* out) {
  const Blocks shape(keys);
  const __m512i places = _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0);
  for (std::size_t k = 0; k < in.size(); k += kBlocks) {
    const std::size_t some = std::min(kBlocks, in.size() - k);
    const auto present = static_cast<__mmask8>((1u << 2 * some) - 1);
    const __m512i sigma = Zmm::sigma(_mm512_maskz_loadu_epi64(present, &in[k]));
    const __m512i tweaks =
        _mm512_add_epi64(_mm512_maskz_set1_epi64(0x55, static_cast<long long>(tweak + k)), places);
    __m512i x[1] = {Zmm::add(sigma, tweaks)};
    permute_all<Blocks, 1>(shape, x);
    _mm512_mask_storeu_epi64(out + k, present, Zmm::add(x[0], sigma));
  }
}

template <std::size_t N>
inline void hash_chosen_blocks(const Blocks& shape, std::uint64_t tweak, __m512i (&x)[N]) {
  const __m512i places = _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0);
  permute_all<Blocks, N>(shape, x);
  __m512i inner[N];
  for (std::size_t k = 0; k < N; ++k) {
    inner[k] = x[k];
    const auto first = static_cast<long long>(tweak + kBlocks * k);
    x[k] = Zmm::add(x[k], _mm512_add_epi64(_mm512_maskz_set1_epi64(0x55, first), places));
  }
  permute_all<Blocks, N>(shape, x);
  for (std::size_t k = 0; k < N; ++k) x[k] = Zmm::add(x[k], inner[k]);
}

void hash_chosen(const RoundKeys& keys, std::uint64_t tweak, std::span<const Label> in,
                 Label* out) {
  const Blocks shape(keys);
  std::size_t k = 0;
  for (; k + kBlocks * kChosenAtOnce <= in.size(); k += kBlocks * kChosenAtOnce) {
    __m512i x[kChosenAtOnce];
    for (std::size_t n = 0; n < kChosenAtOnce; ++n) x[n] = _mm512_loadu_si512(&in[k + kBlocks * n]);
    hash_chosen_blocks<kChosenAtOnce>(shape, tweak + k, x);
    for (std::size_t n = 0; n < kChosenAtOnce; ++n)
      _mm512_storeu_si512(out + k + kBlocks * n, x[n]);
  }
  for (; k < in.size(); k += kBlocks) {
    const std::size_t some = std::min(kBlocks, in.size() - k);
    const auto present = static_cast<__mmask8>((1u << 2 * some) - 1);
    __m512i x[1] = {_mm512_maskz_loadu_epi64(present, &in[k])};
    hash_chosen_blocks<1>(shape, tweak + k, x);
    _mm512_mask_storeu_epi64(out + k, present, x[0]);
  }
}

constexpr Kernel kKernel = {"vaes512", garble, evaluate, add, hash, hash_chosen, permute};

}  // namespace

const Kernel* kernel_vaes512() {
  const bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      cpu_has_aes() && cpu_has_vaes();
  return usable ? &kKernel : nullptr;
}

}  // namespace tkdc::garble
