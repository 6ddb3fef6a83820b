// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <vector>

namespace tkdc {
namespace {

constexpr std::size_t kMostLetters = 64, kMostSlips = 2;

std::size_t slips(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::set<std::string>& known) {
  std::string out;
  std::size_t least = kMostSlips + 1;
  for (const std::string& one : known) {
    if (std::max(word.size(), one.size()) > kMostLetters) continue;
    const std::size_t away = slips(word, one);
    // Of a short word two slips leave nothing.
    if (away > kMostSlips || 3 * away > one.size()) continue;
    if (away == least) out.clear();
    if (away >= least) continue;
    least = away;
    out = one;
  }
  return out;
}

}  // namespace tkdc
