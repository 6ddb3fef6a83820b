// SPDX-License-Identifier: Apache-2.0
// Zero-shares on CPUs with AVX-512 and VAES: one instruction for a round of four
// blocks, both components' streams added in registers. AES-128 as in FIPS 197;
// counters as OpenSSL's AES-CTR counts from zero (128 bits, big-endian), of
// which only the lowest 32 bits ever differ from 0: a key serves for 2^32 blocks.
#include <immintrin.h>

#include "base/cpu_features.h"
#include "rep3/counter_zero_stream.h"

namespace tkdc {
namespace {

constexpr int kRounds = 10;
constexpr std::size_t kScheduleBytes = 16 * (kRounds + 1);
constexpr int kRegisters = 8;  // of 64 octets, of each stream at once
constexpr std::size_t kBatchBytes = 64 * kRegisters;
static_assert(ZeroStream::kPieceBytes % kBatchBytes == 0);
static_assert(kRatchetBytes <= std::uint64_t{16} << 32);

#include "field/aes_round_keys.inl"

inline __m512i round_key(const std::uint8_t* schedule, int round) {
  return _mm512_broadcast_i32x4(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(schedule + 16 * round)));
}

// state = the encrypted counters under `schedule`, without the last round key.
inline void encrypt(const std::uint8_t* schedule, const __m512i (&counters)[kRegisters],
                    __m512i (&state)[kRegisters]) {
  const __m512i first = round_key(schedule, 0);
  for (int r = 0; r < kRegisters; ++r) state[r] = _mm512_xor_si512(counters[r], first);
  for (int round = 1; round < kRounds; ++round) {
    const __m512i key = round_key(schedule, round);
    for (int r = 0; r < kRegisters; ++r) state[r] = _mm512_aesenc_epi128(state[r], key);
  }
  for (int r = 0; r < kRegisters; ++r)
    state[r] = _mm512_aesenclast_epi128(state[r], _mm512_setzero_si512());
}

// out = F(a) ^ F(b) from block `counter` on; `bytes` a multiple of kBatchBytes.
void added_streams(const std::uint8_t* a, const std::uint8_t* b, std::uint32_t counter,
                   std::uint8_t* out, std::size_t bytes) {
  // Counters are added up as little-endian words 0, their octets turned round.
  const __m512i turn = _mm512_broadcast_i32x4(
      _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 3, 2, 1, 0));
  const __m512i last = _mm512_xor_si512(round_key(a, kRounds), round_key(b, kRounds));
  const __m512i step = _mm512_set_epi32(0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4);
  __m512i next = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(counter)),
                                  _mm512_set_epi32(0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0));
  for (; bytes > 0; bytes -= kBatchBytes, out += kBatchBytes) {
    __m512i counters[kRegisters], x[kRegisters], y[kRegisters];
    for (int r = 0; r < kRegisters; ++r) {
      counters[r] = _mm512_shuffle_epi8(next, turn);
      next = _mm512_add_epi32(next, step);
    }
    encrypt(a, counters, x);
    encrypt(b, counters, y);
    for (int r = 0; r < kRegisters; ++r)
      _mm512_storeu_si512(out + 64 * r, _mm512_ternarylogic_epi64(x[r], y[r], last, 0x96));
  }
}

class VaesZeroStream final : public CounterZeroStream {
 public:
  explicit VaesZeroStream(const ZeroStreamKeys& keys) : CounterZeroStream(keys, "tkdc zero") {
    expand_keys();
  }
  const char* name() const override { return "vaes"; }

 private:
  void generate(std::uint64_t at, std::uint8_t* out, std::size_t bytes) override {
    added_streams(schedule_.data(), schedule_.data() + kScheduleBytes,
                  static_cast<std::uint32_t>(at / 16), out, bytes);
  }
  void keys_replaced() override { expand_keys(); }
  void expand_keys() {
    for (std::size_t c = 0; c < 2; ++c)
      expand_aes_key(in_use(c), schedule_.data() + c * kScheduleBytes);
  }

  SecretBuffer schedule_{2 * kScheduleBytes};
};

}  // namespace

std::unique_ptr<ZeroStream> zero_stream_vaes(const ZeroStreamKeys& keys) {
  const bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      cpu_has_aes() && cpu_has_vaes();
  return usable ? std::make_unique<VaesZeroStream>(keys) : nullptr;
}

}  // namespace tkdc
