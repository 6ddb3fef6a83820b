// SPDX-License-Identifier: Apache-2.0
// Which values of a store go with a refresh, and what they are under (docs/adr/0063): records,
// MACs and MAC keys are under a key of their refresh epoch, where it has one, all others under the
// store's. Either opens what the other has encrypted too, while both epochs' are kept: MAC keys are
// in no pair of tables, and a reader may have begun before the pairs were swapped.
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
  // `serving`, `other`: of StoredRefresh.
  RowCiphers(const StoreKeys& keys, const EpochKeyId& serving, const EpochKeyId& other,
             const StoreOwner& owner);

  const StoreCipher& serving() const { return serving_; }
  // Of the pair of tables that does not serve.
  const StoreCipher& other() const { return other_; }
  // Null: it is under the store's key.
  const StoreCipher* of(Tables::Table table, ByteSpan name) const;

 private:
  StoreCipher serving_, other_;
};

// Whether `keys` has that of this name, or it names none.
bool has_epoch_key(const StoreKeys& keys, const EpochKeyId& id);

}  // namespace tkdc
