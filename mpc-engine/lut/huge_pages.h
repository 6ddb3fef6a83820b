// SPDX-License-Identifier: Apache-2.0
// Tables are read once each, a page apart: with pages of 4 KiB each read misses the address cache
// as well. Asks for pages of 2 MiB where the kernel leaves that to programs; a wish, nothing fails.
#pragma once

#include <sys/mman.h>

#include <cstdint>

namespace tkdc::lut {

// `to` gets `count` elements, in such pages as far as its memory is new.
template <class Vector>
void resize_in_huge_pages(Vector& to, std::size_t count) {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  to.reserve(count);
  const auto begin = (reinterpret_cast<std::uintptr_t>(to.data()) + kPage - 1) / kPage * kPage,
             end = reinterpret_cast<std::uintptr_t>(to.data() + count) / kPage * kPage;
  if (begin < end)
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // see above
  to.resize(count);
}

}  // namespace tkdc::lut
