// SPDX-License-Identifier: Apache-2.0
// What a server keeps beside its keys, each value under a name of its owner's: a pool of
// authenticated bits and how far it is used (pair/pool.h). In a table of their own, encrypted as
// records are, and rewritten under new keys with them.
//
// A backup holds few of them (kept_values.h): what is used once would be used twice by a store that
// was restored.
//
// Calls are thread-safe, and what they write is durable when they return. Secret: the values. Names
// are not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

inline constexpr std::size_t kMaxValueNameBytes = 64;
inline constexpr std::size_t kMaxValueBytes = std::size_t{1} << 20;

struct NamedValue {
  std::string_view name;  // 1 to 64 octets
  ByteSpan value;
};

class ValueTable {
 public:
  virtual ~ValueTable() = default;

  // None where there is no such value. Error: it is corrupt; the message names it.
  virtual Result<std::optional<SecretVector>> get(std::string_view name) = 0;
  // All of them in one transaction, over what was there. Error: a name or a value beyond the
  // limits, map or disk full, I/O; nothing has changed then. In a full map a small value can
  // still be put in the place of another that is no shorter.
  virtual Result<void> put(std::span<const NamedValue> values) = 0;
  // Whether values of so many octets more would find room.
  virtual Result<void> room_for(std::size_t bytes) = 0;
  // In one transaction. Those that are not there are passed over.
  virtual Result<void> erase(std::span<const std::string> names) = 0;
  // Those that begin so, in their order.
  virtual Result<std::vector<std::string>> names(std::string_view prefix) = 0;
};

}  // namespace tkdc
