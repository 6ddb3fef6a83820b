// SPDX-License-Identifier: Apache-2.0
// CPU features that clang 14's __builtin_cpu_supports does not know.
#pragma once

#include <cpuid.h>

namespace tkdc {

inline bool cpu_has_aes() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_AES) != 0;
}

inline bool cpu_has_vaes() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & bit_VAES) != 0;
}

inline bool cpu_has_gfni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & bit_GFNI) != 0;
}

inline bool cpu_has_vpclmulqdq() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & bit_VPCLMULQDQ) != 0;
}

}  // namespace tkdc
