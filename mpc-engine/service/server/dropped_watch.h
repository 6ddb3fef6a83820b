// SPDX-License-Identifier: Apache-2.0
// Whether removed keys end when they are due (docs/protocols/28-dropped-keys.md), for a server's
// status and journal: by the one that was dropped first. The store is asked when the number of them
// has changed, and once an hour. Nothing is secret. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"

namespace tkdc {

class DroppedTable;

class DroppedWatch {
 public:
  // When the first of them was dropped, as Unix time; nothing: there is none, or no table.
  std::optional<std::int64_t> oldest_s(DroppedTable* table, std::int64_t now_s);

 private:
  struct Asked {
    std::size_t count = 0;
    std::int64_t at_s = 0;
    std::optional<std::int64_t> oldest_s;
  };
  std::mutex mutex_;  // not held while the store is asked
  Asked last_;
};

// Empty while there is nothing to say. A timer ends what is due each week: more than that is late.
std::string dropped_alarm(std::optional<std::int64_t> oldest_s, std::uint32_t keep_days,
                          std::int64_t now_s);

}  // namespace tkdc
