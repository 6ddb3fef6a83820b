// SPDX-License-Identifier: Apache-2.0
// The keys that a store's values are encrypted with, in the file `keys` of its folder, each
// encrypted under a wrapping key: [store] key_file, a file or a credential of the unit. Two levels,
// so that the wrapping key can be changed at once, and the keys below it with the store's values
// rewritten (docs/adr/0034).
//
//   "tkdc store keys 1\n" | slots u8 | for each slot: length u32, nonce[24], ciphertext and tag
//
// Each slot holds the same keys under another wrapping key: the one in use, the next one while it
// is changed, one for recovery. What is encrypted: count u8 (1 or 2), then 32 octets each, the
// present key first. Associated data: label, installation, party.
//
// Where there are keys of refresh epochs (docs/adr/0063) the first line ends with 2, and behind the
// slots stands
//
//   length u32, nonce[24], ciphertext and tag
//
// under the present key, so that one may come or go while no wrapping key is at hand: whether some
// shares may be under the store's own key yet u8, count u8, then for each its id[8] and 32 octets.
// Two keys make that of an epoch's values: row_key().
//
// Replaced as a whole: either all of the old contents or all of the new are there after a crash.
// The old file's octets are overwritten when nothing names it any more; what a disk keeps of them
// besides, nobody here can tell.
//
// Secret: the keys. Called while the store's folder is locked.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "service/wire/key_ref.h"

namespace tkdc {

// The name of a refresh epoch's key. Of zeros: none.
using EpochKeyId = std::array<std::uint8_t, 8>;

struct EpochKey {
  EpochKeyId id{};
  SecretBuffer key;
};

struct StoreKeys {
  SecretBuffer current;
  std::optional<SecretBuffer> previous;  // values under it are still there
  std::vector<EpochKey> epochs{};        // of those whose shares are kept
  // Beside `epochs`: some shares may be under a store's key itself. It stands here since whoever
  // has that key can write all that the database says.
  bool bare_rows = false;

  bool opens_bare_rows() const { return epochs.empty() || previous || bare_rows; }
};

// Whose keys they are.
struct StoreOwner {
  InstallationId installation{};
  int party = 0;
};

// Where the file is missing or damaged.
inline constexpr const char* kPutKeysBack =
    "put back the file keys of the same moment as data.mdb (a refresh changes both), or restore "
    "the store from its backup";

inline constexpr std::size_t kStoreKeyBytes = 32;
inline constexpr std::size_t kMaxKeySlots = 8, kMaxEpochKeys = 4;

SecretBuffer draw_store_key();
EpochKey draw_epoch_key();
SecretBuffer copy_of(const SecretBuffer& key);
StoreKeys copy_of(const StoreKeys& keys);
// Null where there is none of that name.
const EpochKey* find_epoch_key(const StoreKeys& keys, const EpochKeyId& id);
// BLAKE2b-256(store key; label, epoch's key): without either nobody has it. So a change of the
// store's keys changes it, too, and it is gone with the epoch's key.
SecretBuffer row_key(const SecretBuffer& store_key, const EpochKey& epoch);

class Keyring {
 public:
  Keyring(const std::string& folder, const StoreOwner& owner)
      : path_(folder + "/keys"), owner_(owner) {}

  // Error: nobody can tell.
  Result<bool> exists() const;
  // Error: no slot opens under `wrapping`; the file is damaged, or another store's.
  Result<StoreKeys> read(const SecretBuffer& wrapping) const;
  // The same of a file's octets.
  Result<StoreKeys> read(ByteSpan text, const SecretBuffer& wrapping) const;
  // A slot for each of `wrapping`, and no other.
  Result<void> write(const StoreKeys& keys, const std::vector<const SecretBuffer*>& wrapping) const;
  // The same slots as before, with the epochs' keys of `keys`. Error: the present one is not
  // theirs, as of a file that somebody has put there since read() or write(): it would never open
  // again.
  Result<void> write_epochs(const StoreKeys& keys) const;
  // One more slot, of the keys that `wrapping` opens.
  Result<void> add(const SecretBuffer& wrapping, const SecretBuffer& another) const;
  Result<std::size_t> slots() const;
  // What a crash has left of a file that was to take this one's place: it may have keys that are
  // gone.
  void remove_draft() const;

 private:
  struct File {
    std::vector<Bytes> slots;
    Bytes epochs;  // as they stand there; empty: none
  };
  Result<File> read_file() const;
  Result<File> parse(ByteSpan text) const;
  Result<void> write_file(const File& file) const;
  Result<StoreKeys> open(const File& file, const SecretBuffer& wrapping) const;
  Result<void> open_epochs(const Bytes& sealed, StoreKeys& keys) const;
  Bytes encrypt(const StoreKeys& keys, const SecretBuffer& wrapping) const;
  Bytes encrypt_epochs(const StoreKeys& keys) const;
  Bytes seal(ByteSpan plain, std::string_view label, const SecretBuffer& key) const;
  Bytes associated_data(std::string_view label) const;
  bool opens(ByteSpan sealed, std::string_view label, const SecretBuffer& key,
             SecretVector& plain) const;

  std::string path_;
  StoreOwner owner_;
  mutable std::vector<Bytes> known_slots_;  // as read() or a write saw them last
};

}  // namespace tkdc
