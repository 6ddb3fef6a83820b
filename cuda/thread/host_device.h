// SPDX-License-Identifier: Apache-2.0
// What is compiled for the GPU and for the host alike: g++ runs the same bodies in tests.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define TKDC_HD __host__ __device__ __forceinline__
#define TKDC_UNROLL _Pragma("unroll")
#define TKDC_NO_UNROLL _Pragma("unroll 1")
#else
#define TKDC_HD inline
#define TKDC_UNROLL _Pragma("GCC unroll 32")
#define TKDC_NO_UNROLL
#endif

namespace tkdc::cuda {

using Word = std::uint32_t;  // 32 lanes of one bit, or four octets

TKDC_HD Word rotate_right(Word a, int n) { return a >> n | a << (32 - n); }
TKDC_HD Word rotate_left(Word a, int n) { return a << n | a >> (32 - n); }
TKDC_HD Word swap_octets(Word a) {
  return (a & 0xffu) << 24 | (a & 0xff00u) << 8 | (a >> 8 & 0xff00u) | a >> 24;
}

}  // namespace tkdc::cuda
