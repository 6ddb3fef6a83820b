// SPDX-License-Identifier: Apache-2.0
// Which values of a store go with a refresh, and what they are under (docs/adr/0063): records,
// MACs and MAC keys are under a key of their refresh epoch, where it has one, all others under the
// store's. Either opens what the other has encrypted too, while both epochs' are kept: MAC keys are
// in no pair of tables, and a reader may have begun before the pairs were swapped. The store's own
// key opens them where the file `keys` says so, whatever the database names.
//
// Secret: the keys in it.
#pragma once

#include "service/store/keyring.h"
#include "service/store/meta_values.h"
#include "service/store/store_cipher.h"
#include "service/store/tables.h"

namespace tkdc {

StoreCipher store_cipher(const StoreKeys& keys, const StoreOwner& owner);

class RowCiphers {
 public:
  // `serving`, `other`: of StoredRefresh; one of zeros is the store's key. The same twice where
  // nothing is in the other pair: then nothing else opens what serves.
  RowCiphers(const StoreKeys& keys, const EpochKeyId& serving, const EpochKeyId& other,
             const StoreOwner& owner);

  const StoreCipher& serving() const { return serving_; }
  // Of the pair of tables that does not serve.
  const StoreCipher& other() const { return other_; }
  // Of MAC keys, which are in no pair: until tidy() has put them under the serving epoch's key,
  // they may be under the store's, where that epoch is the first.
  const StoreCipher& mac_keys() const { return mac_keys_; }
  // Null: it is under the store's key.
  const StoreCipher* of(Tables::Table table, ByteSpan name) const;

 private:
  StoreCipher serving_, other_, mac_keys_;
};

// Whether `keys` has that of this name; where it names none, whether the store's own key will do.
bool has_epoch_key(const StoreKeys& keys, const EpochKeyId& id);

}  // namespace tkdc
