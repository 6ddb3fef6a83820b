// SPDX-License-Identifier: Apache-2.0
// What a server has stored of a value, as a record's field: its own blocks are the first component,
// MAC and key of each block the second. Blocks are 16 octets, as they stand in this machine's
// memory: a record of two servers is read by the machine that wrote it, or one like it.
//
// Secret: all but the pool's id.
#pragma once

#include "pair/bridge.h"
#include "service/store/record.h"

namespace tkdc {

inline constexpr const char* kPoolField = "pool";  // of which pool its blocks are

SharedBytes put_blocks(const pair::AuthBlocks& blocks);
// Error: another length.
Result<pair::AuthBlocks> get_blocks(const SharedBytes& field);

SharedBytes put_pool(const pair::Label& pool);
Result<pair::Label> pool_of(const KeyRecord& record);

}  // namespace tkdc
