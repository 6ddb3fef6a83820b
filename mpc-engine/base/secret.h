// SPDX-License-Identifier: Apache-2.0
// Memory for secrets. Nothing here can be printed, and everything is wiped
// before it goes back to the allocator.
//
// SecretVector: shares and keys of a job, ordinary heap, wiped on release.
// SecretBuffer: a long-lived key; its own locked, guarded pages (sodium_malloc).
#pragma once

#include <sodium.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace tkdc {

template <class T>
struct WipingAllocator {
  using value_type = T;
  WipingAllocator() = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) {}
  // Cache lines for buffers that vector kernels go over; few octets are not worth
  // aligned_alloc's detour.
  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    void* p = bytes < 1024 ? std::malloc(bytes) : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (p == nullptr) throw std::bad_alloc();
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t n) {
    sodium_memzero(p, n * sizeof(T));
    std::free(p);
  }
  template <class U>
  bool operator==(const WipingAllocator<U>&) const {
    return true;
  }
};

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;
using MutableByteSpan = std::span<std::uint8_t>;
using SecretVector = std::vector<std::uint8_t, WipingAllocator<std::uint8_t>>;

// Fixed size, locked in memory, not copyable. Throws std::bad_alloc when the
// pages cannot be had (RLIMIT_MEMLOCK): a key in swappable memory is worse
// than no service.
class SecretBuffer {
 public:
  explicit SecretBuffer(std::size_t bytes)
      : data_(sodium_init() < 0 ? nullptr : static_cast<std::uint8_t*>(sodium_malloc(bytes))),
        bytes_(bytes) {
    if (data_ == nullptr) throw std::bad_alloc();
    sodium_memzero(data_, bytes_);
  }
  SecretBuffer(SecretBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  SecretBuffer& operator=(SecretBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  SecretBuffer(const SecretBuffer&) = delete;
  SecretBuffer& operator=(const SecretBuffer&) = delete;
  ~SecretBuffer() { sodium_free(data_); }

  std::uint8_t* data() { return data_; }
  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  MutableByteSpan span() { return {data_, bytes_}; }
  ByteSpan span() const { return {data_, bytes_}; }

 private:
  std::uint8_t* data_;
  std::size_t bytes_;
};

}  // namespace tkdc
