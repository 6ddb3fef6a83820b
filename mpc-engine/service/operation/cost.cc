// SPDX-License-Identifier: Apache-2.0
#include "service/operation/cost.h"

#include "cipher/aes_keys.h"

namespace tkdc {

void CostSum::aes(std::size_t key_bytes, std::size_t blocks) {
  cost_.aes_blocks += static_cast<std::uint32_t>(blocks);
  add(protocol_.message_bytes(Unit::kAesEncrypt, aes_round_key_bytes(key_bytes), 16 * blocks));
}

void CostSum::expansion(std::size_t key_bytes) {
  add(protocol_.message_bytes(aes_expansion(key_bytes), 0, key_bytes));
}

void CostSum::chain(const HashFunction& hash, std::size_t blocks) {
  count(hash, blocks);
  add(protocol_.message_bytes(hash.blocks, hash.state_bytes, hash.block_bytes * blocks));
}

void CostSum::hmac(const HashFunction& hash, std::size_t bytes) {
  const std::size_t blocks = hash.blocks_of(bytes);
  count(hash, blocks + 1);
  add(protocol_.message_bytes(hash.hmac, 2 * hash.state_bytes, hash.block_bytes * blocks));
}

void CostSum::count(const HashFunction& hash, std::size_t blocks) {
  (hash.blocks == Unit::kSha1Blocks ? cost_.sha1_blocks : cost_.sha2_blocks) +=
      static_cast<std::uint32_t>(blocks);
}

}  // namespace tkdc
