// SPDX-License-Identifier: Apache-2.0
#include "service/store/row_ciphers.h"

#include <algorithm>

namespace tkdc {
namespace {

SecretBuffer key_of(const SecretBuffer& store_key, const EpochKey* epoch) {
  return epoch != nullptr ? row_key(store_key, *epoch) : copy_of(store_key);
}

StoreCipher row_cipher(const StoreKeys& keys, const EpochKey* own, const EpochKey* other,
                       const StoreOwner& owner) {
  StoreCipher out(key_of(keys.current, own), owner.installation, owner.party);
  if (keys.previous) out.also_decrypts(key_of(*keys.previous, own));
  if (own != other && (other != nullptr || keys.opens_bare_rows())) {
    out.also_decrypts(key_of(keys.current, other));
    if (keys.previous) out.also_decrypts(key_of(*keys.previous, other));
  }
  // The change gives epochs' keys to values that have none.
  if (keys.previous) {
    out.also_decrypts(keys.current);
    out.also_decrypts(*keys.previous);
  }
  return out;
}

}  // namespace

StoreCipher store_cipher(const StoreKeys& keys, const StoreOwner& owner) {
  StoreCipher out(keys.current, owner.installation, owner.party);
  if (keys.previous) out.also_decrypts(*keys.previous);
  return out;
}

RowCiphers::RowCiphers(const StoreKeys& keys, const EpochKeyId& serving, const EpochKeyId& other,
                       const StoreOwner& owner)
    : serving_(row_cipher(keys, find_epoch_key(keys, serving), find_epoch_key(keys, other), owner)),
      other_(row_cipher(keys, find_epoch_key(keys, other), find_epoch_key(keys, serving), owner)),
      mac_keys_(
          row_cipher(keys, find_epoch_key(keys, serving), find_epoch_key(keys, other), owner)) {
  if (keys.opens_bare_rows()) mac_keys_.also_decrypts(keys.current);
}

const StoreCipher* RowCiphers::of(Tables::Table table, ByteSpan name) const {
  switch (table) {
    case Tables::kCommitted:
    case Tables::kPrepared:  // a share, too, and its next table keeps it
    case Tables::kMacs: return &serving_;
    case Tables::kNext:
    case Tables::kNextMacs: return &other_;
    case Tables::kMeta: return std::ranges::equal(name, meta::kMacKeys) ? &mac_keys_ : nullptr;
    default: return nullptr;
  }
}

bool has_epoch_key(const StoreKeys& keys, const EpochKeyId& id) {
  return id == EpochKeyId{} ? keys.opens_bare_rows() : find_epoch_key(keys, id) != nullptr;
}

}  // namespace tkdc
