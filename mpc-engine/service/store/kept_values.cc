// SPDX-License-Identifier: Apache-2.0
#include "service/store/kept_values.h"

#include <algorithm>
#include <vector>

namespace tkdc::kept {

// The number first: from then on no block counts, whatever is left of them.
Result<std::size_t> give_up_blocks(ValueTable& values) {
  auto names = values.names(kPool);
  if (!names) return names.error();
  std::size_t out = 0;
  std::vector<std::string> blocks;
  for (const std::string& name : *names) {
    if (is_left_out(name) && !name.ends_with(kNext) && name != kMark && name != kRefreshing &&
        name != kRefreshEnded)
      blocks.push_back(name);
    if (!is_head(name)) continue;
    const std::string next = next_of(name);
    auto head = values.get(name), used = values.get(next);
    if (!head) return head.error();
    if (!used) return used.error();
    // What is damaged is complained of where pools are loaded.
    if (!*head || (*head)->size() != kHeadBytes || !*used || (*used)->size() != 8) continue;
    if (Reader(**used).u64() >= blocks_of(**head)) continue;
    Bytes number;
    Writer(number).u64(blocks_of(**head));
    if (auto put = values.put({{{next, number}}}); !put) return put.error();
    ++out;
  }
  if (auto gone = values.erase(blocks); !gone) return gone.error();
  return out;
}

Result<void> put_mark(ValueTable& values, ByteSpan mark) {
  auto names = values.names(kPool);
  if (!names) return names.error();
  if (names->empty()) return {};
  return values.put({{{kMark, mark}}});
}

Result<bool> take_mark(ValueTable& values, ByteSpan mark) {
  auto there = values.get(kMark);
  if (!there) return there.error();
  if (!*there) return false;
  const bool same = std::equal((*there)->begin(), (*there)->end(), mark.begin(), mark.end());
  if (auto gone = values.erase({{std::string(kMark)}}); !gone) return gone.error();
  return same;
}

}  // namespace tkdc::kept
