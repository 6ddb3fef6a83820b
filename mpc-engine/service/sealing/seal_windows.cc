// SPDX-License-Identifier: Apache-2.0
#include "service/sealing/seal_windows.h"

namespace tkdc {

bool SealWindows::insert(SealWindow window) {
  if (window.from > window.to || window.to >= kEnd) return false;
  for (const SealWindow& w : windows_)
    if (w.from <= window.from && window.to <= w.to) return false;
  // Those that it touches become part of it.
  std::erase_if(windows_, [&](const SealWindow& w) {
    const bool touches = w.from <= window.to + 1 && window.from <= w.to + 1;
    if (touches) window = {std::min(w.from, window.from), std::max(w.to, window.to)};
    return touches;
  });
  const auto at = std::ranges::upper_bound(windows_, window.from, {}, &SealWindow::from);
  windows_.insert(at, window);
  return true;
}

// No join changes another gap, so what is left depends on the set alone.
void SealWindows::join_closest() {
  auto gap = [&](std::size_t k) { return windows_[k].from - windows_[k - 1].to; };
  while (windows_.size() > kMax) {
    std::size_t closest = 1;
    for (std::size_t k = 2; k < windows_.size(); ++k)
      if (gap(k) < gap(closest)) closest = k;
    windows_[closest - 1].to = windows_[closest].to;
    windows_.erase(windows_.begin() + static_cast<std::ptrdiff_t>(closest));
  }
}

bool SealWindows::add(SealWindow window) {
  const bool grown = insert(window);
  join_closest();
  return grown;
}

SealWindows SealWindows::united(std::initializer_list<const SealWindows*> sets) {
  SealWindows out;
  for (const SealWindows* set : sets)
    for (const SealWindow& window : set->windows_) out.insert(window);
  out.join_closest();
  return out;
}

SealWindows SealWindows::until(std::uint32_t last) const {
  SealWindows out;
  for (const SealWindow& w : windows_) out.add({w.from, std::min(w.to, last)});
  return out;
}

bool get_windows(Reader& in, SealWindows& windows) {
  windows.clear();
  const std::size_t count = in.u16();
  if (in.failed() || count > SealWindows::kMax) return false;
  for (std::size_t k = 0; k < count; ++k) {
    const SealWindow window = {in.u32(), in.u32()};
    if (in.failed() || !windows.add(window)) return false;
  }
  return true;
}

}  // namespace tkdc
