// SPDX-License-Identifier: Apache-2.0
// Keys between STAGE and BIND: drawn or imported, not yet bound to a principal.
// In memory only; a key that is not bound within kLifetime is gone. Secret: the
// base key's shares. Used by lane 0's thread.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/machine.h"
#include "protocol/shared_bytes.h"
#include "service/wire/message.h"

namespace tkdc {

struct StagedKey {
  using Clock = SteadyClock;
  static constexpr auto kLifetime = std::chrono::minutes(10);
  static constexpr auto kExportWindow = std::chrono::seconds(60);

  std::uint8_t origin = TKDC_ORIGIN_DRAWN;
  std::uint32_t kvno = 0;
  std::uint32_t enctype = 0;
  std::uint64_t agent = 0;  // only the agent that staged a key may export, bind or compare it
  bool exported = false;
  // Whose keys it was compared with; from then on it is for that principal alone.
  std::optional<PrincipalDigest> compared_with;
  Clock::time_point since = Clock::now();
  std::string sharing;                  // of `key`: protocol/protocol.h
  std::array<std::uint8_t, 16> pool{};  // with two servers: of which its blocks are
  SharedBytes key;
};

class StagedKeys {
 public:
  static constexpr std::size_t kMax = 4096;

  bool full() const { return keys_.size() >= kMax; }
  bool empty() const { return keys_.empty(); }
  bool put(const KeyId& id, StagedKey key) { return keys_.emplace(id, std::move(key)).second; }
  StagedKey* find(const KeyId& id) {
    auto it = keys_.find(id);
    return it == keys_.end() ? nullptr : &it->second;
  }
  void erase(const KeyId& id) { keys_.erase(id); }
  bool has_of_pool(const std::array<std::uint8_t, 16>& pool) const {
    return std::ranges::any_of(keys_, [&](const auto& one) { return one.second.pool == pool; });
  }
  void erase_of_pool(const std::array<std::uint8_t, 16>& pool) {
    std::erase_if(keys_, [&](const auto& one) { return one.second.pool == pool; });
  }
  // Keys that a running job works on stay.
  void expire(const std::set<KeyId>& in_use) {
    const auto oldest = StagedKey::Clock::now() - StagedKey::kLifetime;
    std::erase_if(keys_, [&](const auto& entry) {
      return entry.second.since < oldest && !in_use.contains(entry.first);
    });
  }

 private:
  std::map<KeyId, StagedKey> keys_;
};

}  // namespace tkdc
