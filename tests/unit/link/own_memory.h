// SPDX-License-Identifier: Apache-2.0
// How often a value stands in this process's writable memory, freed memory included. The value is
// known by its complement, so that whoever looks for it has no copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/secret.h"

namespace tkdc {

// A sanitizer's shadow is no memory to walk through.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kOwnMemoryCanBeRead = false;
#else
inline constexpr bool kOwnMemoryCanBeRead = true;
#endif

inline std::size_t count_in_own_memory(const Bytes& complement) {
  std::ifstream maps("/proc/self/maps");
  std::size_t found = 0;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3) continue;
    if (std::string(rights) != "rw-p") continue;
    const auto* at = reinterpret_cast<const std::uint8_t*>(begin);
    const auto* last = reinterpret_cast<const std::uint8_t*>(end) - complement.size();
    const auto first = static_cast<std::uint8_t>(~complement[0]);
    while ((at = std::find(at, last, first)) < last) {
      const bool same = std::equal(
          complement.begin(), complement.end(), at,
          [](std::uint8_t a, std::uint8_t b) { return a == static_cast<std::uint8_t>(~b); });
      found += same ? 1 : 0;
      ++at;
    }
  }
  return found;
}

}  // namespace tkdc
