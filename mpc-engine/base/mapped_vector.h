// SPDX-License-Identifier: Apache-2.0
// Vectors of many megabytes that are needed once: theirs goes back to the kernel when they are
// released, whatever the program does with freed memory otherwise. A server keeps freed memory
// (heap.h), and glibc cannot give parts of locked memory back (hardening.h). Not wiped: for what is
// public.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace tkdc {

template <class T>
struct MappedAllocator {
  using value_type = T;
  // Shorter ones come from the heap.
  static constexpr std::size_t kLeastMapped = std::size_t{1} << 17;
  MappedAllocator() = default;
  template <class U>
  MappedAllocator(const MappedAllocator<U>&) {}
  T* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = n * sizeof(T);
    if (bytes < kLeastMapped) return static_cast<T*>(::operator new(bytes));
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t n) {
    if (n * sizeof(T) < kLeastMapped)
      ::operator delete(p);
    else
      munmap(p, n * sizeof(T));
  }
  template <class U>
  bool operator==(const MappedAllocator<U>&) const {
    return true;
  }
};

template <class T>
using MappedVector = std::vector<T, MappedAllocator<T>>;

}  // namespace tkdc
