// SPDX-License-Identifier: Apache-2.0
// The product in GF(2^128), in GCM's bit order (SP 800-38D, section 6.3), on 16
// octets each. Constant time: no branch and no index depends on an operand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tkdc {

inline constexpr std::size_t kGf128Bytes = 16;

// out ^= a b, by the fastest implementation that this CPU has.
void gf128_multiply_add(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b);

// out ^= the sum of a_k b_k over n elements of 16 octets each.
void gf128_dot_add(std::uint8_t* out, std::size_t n, const std::uint8_t* a, const std::uint8_t* b);

// The implementations: the reference, and by PCLMULQDQ; that one null when the CPU lacks it.
using Gf128MultiplyAdd = void (*)(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b);
void gf128_multiply_add_scalar(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b);
Gf128MultiplyAdd gf128_multiply_add_clmul();

using Gf128DotAdd = void (*)(std::uint8_t* out, std::size_t n, const std::uint8_t* a,
                             const std::uint8_t* b);
void gf128_dot_add_scalar(std::uint8_t* out, std::size_t n, const std::uint8_t* a,
                          const std::uint8_t* b);
Gf128DotAdd gf128_dot_add_clmul();

}  // namespace tkdc
