// SPDX-License-Identifier: Apache-2.0
// Where the protocols make a value public: opened values, what is exchanged in
// the clear, digests that are compared. Nothing happens here, but in the program
// tests/unit/constant_time, which tells valgrind so: there every other octet that
// depends on a share is forbidden to decide a branch or an address.
#pragma once

#include <cstddef>

#if defined(TKDC_CONSTANT_TIME_CHECK)
#include <valgrind/memcheck.h>
#endif

namespace tkdc {

// Static: the translation units of one program may differ in it.
static inline void now_public([[maybe_unused]] const void* octets,
                              [[maybe_unused]] std::size_t bytes) {
#if defined(TKDC_CONSTANT_TIME_CHECK)
  VALGRIND_MAKE_MEM_DEFINED(octets, bytes);
#endif
}

}  // namespace tkdc
