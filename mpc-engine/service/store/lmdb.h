// SPDX-License-Identifier: Apache-2.0
// LMDB's transactions as owning objects: aborted unless committed.
#pragma once

#include <lmdb.h>

#include <utility>

#include "base/secret.h"

namespace tkdc {

class LmdbTxn {
 public:
  LmdbTxn(MDB_env* env, unsigned flags) { rc_ = mdb_txn_begin(env, nullptr, flags, &txn_); }
  ~LmdbTxn() {
    if (txn_ != nullptr) mdb_txn_abort(txn_);
  }
  LmdbTxn(const LmdbTxn&) = delete;
  LmdbTxn& operator=(const LmdbTxn&) = delete;

  MDB_txn* get() const { return txn_; }
  int begun() const { return rc_; }
  int commit() { return mdb_txn_commit(std::exchange(txn_, nullptr)); }

 private:
  MDB_txn* txn_ = nullptr;
  int rc_ = 0;
};

inline MDB_val lmdb_val(ByteSpan bytes) {
  // LMDB does not write through keys and values given to it.
  return {bytes.size(), const_cast<std::uint8_t*>(bytes.data())};
}

inline ByteSpan lmdb_span(const MDB_val& v) {
  return {static_cast<const std::uint8_t*>(v.mv_data), v.mv_size};
}

}  // namespace tkdc
