// SPDX-License-Identifier: Apache-2.0
// Times of sealing that are revoked, as a set of windows in the nonce's units
// (service/sealing/nonce.h). Windows that touch are one; there are at most kMax: of more, the
// closest are made into one, which revokes what lies between, never less. Public.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "base/codec.h"

namespace tkdc {

struct SealWindow {
  std::uint32_t from = 0, to = 0;  // both are revoked
  bool operator==(const SealWindow&) const = default;
};

class SealWindows {
 public:
  static constexpr std::size_t kMax = 64;
  static constexpr std::uint32_t kEnd = 1u << 24;  // of the nonce's field

  // Ignored when from > to. Whether the set has grown.
  bool add(SealWindow window);
  // All of them together, in whatever order: windows are joined only once all are there.
  // Adding one set after the other would join others, so servers would come to differ.
  static SealWindows united(std::initializer_list<const SealWindows*> sets);
  bool contains(std::uint32_t sealed_at) const {
    return std::ranges::any_of(
        windows_, [&](const SealWindow& w) { return w.from <= sealed_at && sealed_at <= w.to; });
  }
  // Without what lies after `last`; without windows that end before `first`.
  SealWindows until(std::uint32_t last) const;
  bool forget_before(std::uint32_t first) {
    return std::erase_if(windows_, [&](const SealWindow& w) { return w.to < first; }) > 0;
  }

  bool empty() const { return windows_.empty(); }
  void clear() { windows_.clear(); }
  const std::vector<SealWindow>& list() const { return windows_; }
  bool operator==(const SealWindows&) const = default;

 private:
  bool insert(SealWindow window);
  void join_closest();

  std::vector<SealWindow> windows_;  // in order, with a gap between any two
};

// u16 count, then from u32, to u32 each.
template <class AnyWriter>
void put_windows(AnyWriter& w, const SealWindows& windows) {
  w.u16(static_cast<std::uint16_t>(windows.list().size()));
  for (const SealWindow& window : windows.list()) {
    w.u32(window.from);
    w.u32(window.to);
  }
}
// False when there are too many, or one is none: more than the reader's failed().
[[nodiscard]] bool get_windows(Reader& in, SealWindows& windows);

}  // namespace tkdc
