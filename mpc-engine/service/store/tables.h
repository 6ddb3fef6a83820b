// SPDX-License-Identifier: Apache-2.0
// What a share store asks of a database: a few tables of names and values, changed in transactions
// that are on disk as a whole, or not at all, when commit() returns. LMDB is the real one
// (lmdb_tables.h); tests/sim has one that fails, fills up and loses its power.
//
// Codes are LMDB's: 0, or why not, for mdb_strerror(). Threads: as LMDB, readers in parallel on
// what was there when they began, writers one at a time, which the caller sees to. What stands in
// it is ciphertext.
#pragma once

#include <lmdb.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

inline ByteSpan octets(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class Tables {
 public:
  enum Table : int {
    kCommitted,
    kPrepared,
    kTombstones,
    kMeta,
    kCondemned,
    kSeals,
    kMacs,
    kNext,  // a second pair of records and MACs (refresh_table.h)
    kNextMacs,
    kValues,   // value_table.h
    kDropped,  // dropped_table.h
    kTables
  };
  // As what they hold is authenticated: either pair may be the one that serves.
  static constexpr std::string_view kNames[kTables] = {
      "committed", "prepared",  "tombstones", "meta",   "condemned", "seals",
      "macs",      "committed", "macs",       "values", "dropped"};
  static constexpr const char* kFileNames[kTables] = {
      "committed", "prepared",    "tombstones", "meta",   "condemned", "seals",
      "macs",      "committed 2", "macs 2",     "values", "dropped"};
  static constexpr int kNotFound = MDB_NOTFOUND;

  // Undone when it goes, unless it was committed.
  class Transaction {
   public:
    virtual ~Transaction() = default;
    // `value` stays until the transaction goes or changes something.
    virtual int find(Table table, ByteSpan name, ByteSpan& value) = 0;
    virtual int put(Table table, ByteSpan name, ByteSpan value) = 0;
    // Where there is none: 0.
    virtual int erase(Table table, ByteSpan name) = 0;
    virtual int clear(Table table) = 0;
    virtual int count(Table table, std::size_t& entries) = 0;
    // In the order of their names, as long as `visit` says true.
    virtual int each(Table table,
                     const std::function<bool(ByteSpan name, ByteSpan value)>& visit) = 0;
    // The same from behind `name` on. This one looks at all of them.
    virtual int each_after(Table table, ByteSpan name,
                           const std::function<bool(ByteSpan name, ByteSpan value)>& visit) {
      return each(table, [&](ByteSpan one, ByteSpan value) {
        const bool behind = std::ranges::lexicographical_compare(name, one);
        return !behind || visit(one, value);
      });
    }
    virtual int commit() = 0;
  };

  virtual ~Tables() = default;
  virtual int begin(bool writes, std::unique_ptr<Transaction>& transaction) = 0;
  // Whether one more value of this size can be put into `table` so that all that it holds can
  // still be moved to another, and any entry be removed after that; else why not.
  virtual int check_room(Table table, std::size_t value_bytes) = 0;
};

// A transaction that has begun, or begun() says why not.
class Txn {
 public:
  Txn(Tables& tables, bool writes) : begun_(tables.begin(writes, transaction_)) {}
  int begun() const { return begun_; }
  Tables::Transaction* operator->() const { return transaction_.get(); }

 private:
  std::unique_ptr<Tables::Transaction> transaction_;
  int begun_;
};

}  // namespace tkdc
