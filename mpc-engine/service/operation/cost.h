// SPDX-License-Identifier: Apache-2.0
// What an operation costs a party, added up unit by unit from its public shape. A test compares it
// with the lane's counters.
#pragma once

#include "protocol/hash.h"
#include "protocol/protocol.h"
#include "service/wire/message.h"

namespace tkdc {

class CostSum {
 public:
  explicit CostSum(const Protocol& protocol) : protocol_(protocol) {}

  void aes(std::size_t key_bytes, std::size_t blocks);
  // One key's round keys.
  void expansion(std::size_t key_bytes);
  // Of whole blocks.
  void chain(const HashFunction& hash, std::size_t blocks);
  // Of a message of so many octets, under pad states.
  void hmac(const HashFunction& hash, std::size_t bytes);
  void products(std::size_t many) { add(many * protocol_.product_bytes()); }

  const JobCost& cost() const { return cost_; }

 private:
  void add(std::size_t bytes) { cost_.message_bytes += static_cast<std::uint32_t>(bytes); }
  void count(const HashFunction& hash, std::size_t blocks);

  const Protocol& protocol_;
  JobCost cost_;
};

}  // namespace tkdc
