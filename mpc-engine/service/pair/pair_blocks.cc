// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_blocks.h"

#include <cstring>

namespace tkdc {

using pair::AuthBlock;
using pair::kLabelBytes;
using pair::Label;

SharedBytes put_blocks(const pair::AuthBlocks& blocks) {
  SharedBytes out;
  out.component[0].resize(kLabelBytes * blocks.size());
  out.component[1].resize(2 * kLabelBytes * blocks.size());
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    std::memcpy(out.component[0].data() + kLabelBytes * k, &blocks[k].own, kLabelBytes);
    std::memcpy(out.component[1].data() + 2 * kLabelBytes * k, &blocks[k].mac, kLabelBytes);
    std::memcpy(out.component[1].data() + kLabelBytes * (2 * k + 1), &blocks[k].key, kLabelBytes);
  }
  return out;
}

Result<pair::AuthBlocks> get_blocks(const SharedBytes& field) {
  const std::size_t blocks = field.component[0].size() / kLabelBytes;
  if (blocks == 0 || field.component[0].size() != kLabelBytes * blocks ||
      field.component[1].size() != 2 * kLabelBytes * blocks)
    return fail("keys: a field of this record has another length than two servers store");
  pair::AuthBlocks out(blocks);
  for (std::size_t k = 0; k < blocks; ++k) {
    std::memcpy(&out[k].own, field.component[0].data() + kLabelBytes * k, kLabelBytes);
    std::memcpy(&out[k].mac, field.component[1].data() + 2 * kLabelBytes * k, kLabelBytes);
    std::memcpy(&out[k].key, field.component[1].data() + kLabelBytes * (2 * k + 1), kLabelBytes);
  }
  return out;
}

SharedBytes put_pool(const Label& pool) {
  SharedBytes out;
  out.component[0].resize(kLabelBytes);
  std::memcpy(out.component[0].data(), &pool, kLabelBytes);
  return out;
}

Result<Label> pool_of(const KeyRecord& record) {
  const auto field = record.fields.find(kPoolField);
  if (field == record.fields.end() || field->second.component[0].size() != kLabelBytes)
    return fail("keys: this record does not say of which pool it is");
  Label out;
  std::memcpy(&out, field->second.component[0].data(), kLabelBytes);
  return out;
}

}  // namespace tkdc
