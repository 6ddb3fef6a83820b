// SPDX-License-Identifier: Apache-2.0
// The MAC keys that one server keeps, newest first, in its store. A key is made in a session, from
// the lane's pairwise keys, and known by a digest of that session's id; each server keeps what it
// shares with either neighbour. Secret: all but the ids. Used by lane 0's thread.
#pragma once

#include <optional>
#include <vector>

#include "service/store/mac_table.h"

namespace tkdc {

struct KeptMacKey {
  MacKeyId id{};
  std::uint32_t refresh_epoch = 0;
  SecretVector with_prev, with_next;  // MacKeys::kPairBytes each
};

class MacKeyring {
 public:
  // More than ever stand side by side: those of a refresh, and of a store that was restored. When
  // it is full none is added: whoever claims to have lost his keys must not push out the others'.
  static constexpr std::size_t kMostKeys = 8;

  explicit MacKeyring(MacTable& table) : table_(table) {}

  Result<void> load();
  const std::vector<KeptMacKey>& all() const { return keys_; }
  const KeptMacKey* find(const MacKeyId& id) const;
  // On disk when these return.
  Result<void> add(KeptMacKey key);
  Result<void> keep_only(const MacKeyId& id);
  // Those of other refreshes go.
  Result<void> keep_only_of(std::uint32_t refresh_epoch);

 private:
  Result<void> store(std::vector<KeptMacKey> keys);

  MacTable& table_;
  std::vector<KeptMacKey> keys_;
};

}  // namespace tkdc
