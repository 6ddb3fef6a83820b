// SPDX-License-Identifier: Apache-2.0
// What a store holds, as its administrator tells the two others: after all three were restored from
// backups of different states, three such lists say what the three still have in common
// (docs/operations/backup.md, "Restoring").
//
// A text file without secrets: ids, numbers and names of keys.
//
//   tkdc-store-list 1
//   installation HEX
//   party N
//   refresh N                    refresh epoch
//   era N                        of nonce epochs
//   generation N                 how many transactions the store has been through
//   keys N
//   key ID KVNO ENCTYPE VERSION DROPPED PRINCIPAL      N lines, ids ascending; DROPPED: 0, or when
//   gone N
//   gone ID KVNO ENCTYPE VERSION                       N lines, ids ascending: purged
//
// There is one way to write each list. Nothing here is secret.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "service/store/dropped_table.h"
#include "service/store/repair_table.h"
#include "service/store/store_snapshot.h"

namespace tkdc {

struct ListedRecord {
  Tombstone key;  // id and header
  std::uint64_t dropped_at_s = 0;
  std::string principal;
};

struct StoreList {
  InstallationId installation{};
  int party = 0;
  std::uint32_t refresh_epoch = 0, era = 0;
  std::uint64_t generation = 0;
  std::vector<ListedRecord> keys;
  std::vector<Tombstone> gone;
};

inline constexpr std::size_t kMaxStoreListBytes = std::size_t{256} << 20;

Result<StoreList> list_store(StoreSnapshot& snapshot, const StoreOptions& options);
std::string encode(const StoreList& list);
// Error: says in which line what is wrong.
Result<StoreList> decode_store_list(std::string_view text);
// For people to compare.
std::string short_digest_of_list(std::string_view text);

// A key that not all hold alike, and who holds it.
struct LoneKey {
  ListedRecord record;
  std::array<bool, 3> at{};
  // All have it, in different versions: with two servers, it has moved into another pool since.
  bool versions = false;
  // Both have it alike, and one has another one's word that it was removed: with two servers only,
  // which keep none that could come back.
  bool removed = false;
};

// The same whoever computes it.
struct StoreAgreement {
  std::vector<Tombstone> gone;      // at any, and what not all hold alike
  std::vector<DroppedKey> dropped;  // at any, as early as any says
  std::vector<LoneKey> lone;
  std::size_t kept = 0;
  std::uint32_t era = 0;  // the highest
};

// How far apart the eras of lists may be. Each restore of all three servers begins one.
inline constexpr std::uint32_t kMostErasApart = 64;

// `lists` by party, three, or of two servers both. Error: not of one installation, or not of one
// refresh epoch; says which is current. Or eras too far apart: a store of a later one makes no use
// of its keys but to open.
Result<StoreAgreement> agree_on(std::span<const StoreList> lists);

// What this store uses, and would use no more: keys that another one's list has dropped; and what
// it has dropped later than another says, so that it would be purged earlier.
std::vector<ListedRecord> drops_of(const StoreAgreement& agreed, const StoreList& own);

// Of a stopped server: these go, and have a tombstone; these are dropped, and no others; what was
// half made is forgotten. In one transaction, but for records that move.
Result<void> keep_common(Store& store, const StoreAgreement& agreed);

}  // namespace tkdc
