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
// Replaced as a whole: either all of the old contents or all of the new are there after a crash.
// The old file's octets are overwritten when nothing names it any more; what a disk keeps of them
// besides, nobody here can tell.
//
// Secret: the keys. Called while the store's folder is locked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "service/wire/key_ref.h"

namespace tkdc {

struct StoreKeys {
  SecretBuffer current;
  std::optional<SecretBuffer> previous;  // values under it are still there
};

// Whose keys they are.
struct StoreOwner {
  InstallationId installation{};
  int party = 0;
};

inline constexpr std::size_t kStoreKeyBytes = 32;
inline constexpr std::size_t kMaxKeySlots = 8;

SecretBuffer draw_store_key();
SecretBuffer copy_of(const SecretBuffer& key);

class Keyring {
 public:
  Keyring(const std::string& folder, const StoreOwner& owner)
      : path_(folder + "/keys"), owner_(owner) {}

  bool exists() const;
  // Error: no slot opens under `wrapping`; the file is damaged, or another store's.
  Result<StoreKeys> read(const SecretBuffer& wrapping) const;
  // A slot for each of `wrapping`, and no other.
  Result<void> write(const StoreKeys& keys, const std::vector<const SecretBuffer*>& wrapping) const;
  // One more slot, of the keys that `wrapping` opens.
  Result<void> add(const SecretBuffer& wrapping, const SecretBuffer& another) const;
  Result<std::size_t> slots() const;

 private:
  Result<std::vector<Bytes>> read_slots() const;
  Result<void> write_slots(const std::vector<Bytes>& slots) const;
  Result<StoreKeys> open(const std::vector<Bytes>& slots, const SecretBuffer& wrapping) const;
  Bytes encrypt(const StoreKeys& keys, const SecretBuffer& wrapping) const;
  Bytes associated_data() const;

  std::string path_;
  StoreOwner owner_;
};

}  // namespace tkdc
