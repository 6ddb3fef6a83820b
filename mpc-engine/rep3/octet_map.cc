// SPDX-License-Identifier: Apache-2.0
#include "rep3/octet_map.h"

#include <immintrin.h>

#include <cstring>

namespace tkdc {
namespace {

__attribute__((target("avx512f,avx512bw,gfni"))) void add_mapped_gfni(const OctetMap& map,
                                                                      const std::uint8_t* a,
                                                                      const std::uint8_t* b,
                                                                      std::size_t octets,
                                                                      std::uint8_t* out) {
  const __m512i matrix = _mm512_set1_epi64(static_cast<long long>(affine_matrix(map)));
  std::size_t k = 0;
  for (; k + 64 <= octets; k += 64)
    _mm512_storeu_si512(out + k, _mm512_xor_si512(_mm512_loadu_si512(a + k),
                                                  _mm512_gf2p8affine_epi64_epi8(
                                                      _mm512_loadu_si512(b + k), matrix, 0)));
  if (k == octets) return;
  const __mmask64 rest = (std::uint64_t{1} << (octets - k)) - 1;
  const __m512i image =
      _mm512_gf2p8affine_epi64_epi8(_mm512_maskz_loadu_epi8(rest, b + k), matrix, 0);
  _mm512_mask_storeu_epi8(out + k, rest,
                          _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, a + k), image));
}

using AddMapped = decltype(&add_mapped_portable);
AddMapped fastest() {
  const bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("gfni");
  return usable ? add_mapped_gfni : add_mapped_portable;
}

}  // namespace

void add_mapped_portable(const OctetMap& map, const std::uint8_t* a, const std::uint8_t* b,
                         std::size_t octets, std::uint8_t* out) {
  constexpr std::uint64_t kLow = 0x0101010101010101u;
  for (std::size_t k = 0; k < octets; k += 8) {
    const std::size_t take = octets - k < 8 ? octets - k : 8;
    std::uint64_t sum = 0, from = 0;
    std::memcpy(&sum, a + k, take);
    std::memcpy(&from, b + k, take);
    for (std::size_t bit = 0; bit < 8; ++bit) sum ^= (from >> bit & kLow) * map[bit];
    std::memcpy(out + k, &sum, take);
  }
}

void add_mapped(const OctetMap& map, const std::uint8_t* a, const std::uint8_t* b,
                std::size_t octets, std::uint8_t* out) {
  static const AddMapped best = fastest();
  best(map, a, b, octets, out);
}

}  // namespace tkdc
