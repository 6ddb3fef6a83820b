// SPDX-License-Identifier: Apache-2.0
#include "service/store/kept_values.h"

namespace tkdc::kept {

Result<bool> has_unused_blocks(ValueTable& values) {
  auto names = values.names(kPool);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (!is_head(name)) continue;
    auto head = values.get(name), next = values.get(next_of(name));
    if (!head) return head.error();
    if (!next) return next.error();
    if (!*head || (*head)->size() != kHeadBytes || !*next || (*next)->size() != 8) return true;
    if (Reader(**next).u64() < blocks_of(**head)) return true;
  }
  return false;
}

}  // namespace tkdc::kept
