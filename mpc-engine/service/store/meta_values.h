// SPDX-License-Identifier: Apache-2.0
// What stands in a store's table "meta": whose it is, its nonce epochs, which pair of tables
// serves. The names of the values, and those that more than one file here reads, as octets.
//
// The owner's record is in the clear; every other value is encrypted like a record. Secret: MAC
// keys.
#pragma once

#include "service/store/keyring.h"
#include "service/store/refresh_table.h"
#include "service/store/store.h"
#include "service/store/tables.h"

namespace tkdc {

namespace meta {
inline const ByteSpan kOwner = octets("owner");
inline const ByteSpan kKeyCheck = octets("key check");
inline const ByteSpan kEpochs = octets("epoch");
inline const ByteSpan kRevoked = octets("revoked");
inline const ByteSpan kAuditHead = octets("audit head");  // in no backup
inline const ByteSpan kRefresh = octets("refresh");
inline const ByteSpan kMacKeys = octets("mac keys");
inline const ByteSpan kPeers = octets("peers");
// Of a store that was restored: its backup's generation (store_snapshot.h).
inline const ByteSpan kGeneration = octets("generation");
}  // namespace meta

inline constexpr std::string_view kKeyCheckText = "this store key opens this store";

// The format says whether there is a keyring, whether the store was ever refreshed, whether it has
// dropped keys (a release that knows none would use them), and whether the keyring may have keys of
// refresh epochs.
struct OwnerRecord {
  bool two_levels = false, refreshed = false, dropped = false, epoch_keys = false;
};
Bytes encode_owner(const OwnerRecord& owner, const StoreOptions& options);
// Error: of another installation or party, or of a format that this release does not read.
Result<OwnerRecord> read_owner(ByteSpan value, const StoreOptions& options);

Bytes encode_epochs(const Epochs& epochs);
[[nodiscard]] bool decode_epochs(ByteSpan in, Epochs& epochs);

// The header of a dropped key's row: what is to become of it, and since when it is dropped.
enum class DroppedState : std::uint8_t { kDropped = 0, kPurged = 1, kGivenBack = 2 };
inline constexpr std::size_t kDroppedHeaderBytes = 1 + 8;
Bytes encode_dropped(DroppedState state, std::uint64_t at_s);
[[nodiscard]] bool decode_dropped(ByteSpan header, DroppedState& state, std::uint64_t& at_s);

struct StoredRefresh {
  // What the pair of tables that does not serve is.
  enum class Other : std::uint8_t { kNothing = 0, kComplete = 1, kBefore = 2 };

  RefreshState is;
  bool second_pair = false;
  Other other = Other::kNothing;  // or what an attempt has made
  std::uint64_t other_at_s = 0;   // `is.at_s` if it came to serve
  // What the values of either pair are under; none: the store's key (row_ciphers.h).
  EpochKeyId key{}, other_key{};
};
Bytes encode_refresh(const StoredRefresh& refresh);
[[nodiscard]] bool decode_refresh(ByteSpan in, StoredRefresh& refresh);

}  // namespace tkdc
