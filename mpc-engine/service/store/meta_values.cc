// SPDX-License-Identifier: Apache-2.0
#include "service/store/meta_values.h"

#include "base/codec.h"
#include "base/hex.h"

namespace tkdc {
namespace {

constexpr std::uint8_t kOneLevel = 1, kTwoLevels = 2;
constexpr std::uint8_t kRefreshed = 2, kDropped = 4, kEpochKeys = 8;  // are added
constexpr std::uint8_t kMostFormat = kTwoLevels + kRefreshed + kDropped + kEpochKeys;
constexpr std::uint8_t kRefreshFormat = 1, kRefreshFormatKeys = 2;

}  // namespace

Bytes encode_owner(const OwnerRecord& owner, const StoreOptions& options) {
  Bytes out;
  out.reserve(32);
  Writer w(out);
  w.u8(static_cast<std::uint8_t>(
      (owner.two_levels ? kTwoLevels : kOneLevel) + (owner.refreshed ? kRefreshed : 0) +
      (owner.dropped ? kDropped : 0) + (owner.epoch_keys ? kEpochKeys : 0)));
  w.raw(options.installation);
  w.u8(static_cast<std::uint8_t>(options.party));
  return out;
}

Result<OwnerRecord> read_owner(ByteSpan value, const StoreOptions& options) {
  Reader r(value);
  std::uint8_t format = r.u8();
  InstallationId installation{};
  r.array(installation);
  const int party = r.u8();
  const bool epoch_keys = format > kMostFormat - kEpochKeys;
  // They lie in a keyring.
  const bool known =
      format >= kOneLevel && format <= kMostFormat && (!epoch_keys || format % 2 == 0);
  if (!r.complete() || !known)
    return fail("store: " + options.path + " has format " + std::to_string(format) +
                ", this release reads formats 1 to 8, 10, 12, 14 and 16");
  OwnerRecord out;
  out.epoch_keys = epoch_keys;
  if (epoch_keys) format -= kEpochKeys;
  out.dropped = format > kTwoLevels + kRefreshed;
  if (out.dropped) format -= kDropped;
  out.refreshed = format > kTwoLevels;
  if (out.refreshed) format -= kRefreshed;
  out.two_levels = format == kTwoLevels;
  if (installation != options.installation || party != options.party)
    return fail("store: " + options.path + " belongs to party " + std::to_string(party) +
                " of installation " + to_hex(installation) + ", not to party " +
                std::to_string(options.party) + " of " + to_hex(options.installation) +
                "; correct [store] path");
  return out;
}

Bytes encode_epochs(const Epochs& epochs) {
  Bytes out;
  Writer w(out);
  w.u32(epochs.era);
  w.u32(epochs.reserved);
  w.u32(epochs.used);
  w.u64(epochs.spent);
  w.u64(epochs.spent_at_s);
  return out;
}

bool decode_epochs(ByteSpan in, Epochs& epochs) {
  Reader r(in);
  // Stores used to keep one number, of which it was not known whether it was used.
  if (in.size() == 4) {
    epochs.reserved = epochs.used = r.u32();
    return true;
  }
  epochs.era = r.u32();
  epochs.reserved = r.u32();
  epochs.used = r.u32();
  epochs.spent = r.u64();
  epochs.spent_at_s = r.u64();
  return r.complete() && epochs_fault({}, epochs) == nullptr;
}

Bytes encode_dropped(DroppedState state, std::uint64_t at_s) {
  Bytes out;
  Writer w(out);
  w.u8(static_cast<std::uint8_t>(state));
  w.u64(at_s);
  return out;
}

bool decode_dropped(ByteSpan header, DroppedState& state, std::uint64_t& at_s) {
  Reader r(header);
  const std::uint8_t said = r.u8();
  at_s = r.u64();
  if (!r.complete() || said > static_cast<std::uint8_t>(DroppedState::kGivenBack) || at_s == 0)
    return false;
  state = static_cast<DroppedState>(said);
  return true;
}

// format u8 | epoch u32 | at u64 | which pair u8 | the other u8 | its epoch's time u64
// Format 2: | id of the key that serves [8] | of the other [8]
Bytes encode_refresh(const StoredRefresh& refresh) {
  Bytes out;
  Writer w(out);
  const bool keys = refresh.key != EpochKeyId{} || refresh.other_key != EpochKeyId{};
  w.u8(keys ? kRefreshFormatKeys : kRefreshFormat);
  w.u32(refresh.is.epoch);
  w.u64(refresh.is.at_s);
  w.u8(refresh.second_pair ? 1 : 0);
  w.u8(static_cast<std::uint8_t>(refresh.other));
  w.u64(refresh.other_at_s);
  if (!keys) return out;
  w.raw(refresh.key);
  w.raw(refresh.other_key);
  return out;
}

bool decode_refresh(ByteSpan in, StoredRefresh& refresh) {
  Reader r(in);
  const std::uint8_t format = r.u8();
  refresh.is.epoch = r.u32();
  refresh.is.at_s = r.u64();
  const std::uint8_t second = r.u8(), other = r.u8();
  refresh.other_at_s = r.u64();
  if (format == kRefreshFormatKeys) {
    r.array(refresh.key);
    r.array(refresh.other_key);
  }
  const bool known = format == kRefreshFormat || format == kRefreshFormatKeys;
  if (!r.complete() || !known || second > 1 ||
      other > static_cast<std::uint8_t>(StoredRefresh::Other::kBefore))
    return false;
  refresh.second_pair = second == 1;
  refresh.other = static_cast<StoredRefresh::Other>(other);
  return true;
}

}  // namespace tkdc
