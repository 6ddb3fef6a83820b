// SPDX-License-Identifier: Apache-2.0
// A lane's work comes in batches of some megabytes that are freed and allocated
// again at once. By default glibc gives such memory back to the kernel each
// time, and the page faults cost a verified AES block a sixth of its CPU time.
#pragma once

#include <malloc.h>

namespace tkdc {

// For programs that run lanes, at start: freed memory stays with the process, up
// to 256 MiB, and blocks below 32 MiB (glibc's limit) come from the heap.
inline void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_TOP_PAD, 16 << 20);
}

}  // namespace tkdc
