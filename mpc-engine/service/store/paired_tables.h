// SPDX-License-Identifier: Apache-2.0
// Tables of which two pairs can be swapped: records and MACs that serve, and those that a refresh
// makes (refresh_table.h). Whoever works with "committed" and "macs" works with the pair that
// serves, and a transaction goes on with the pair that served when it began.
#pragma once

#include <atomic>

#include "service/store/tables.h"

namespace tkdc {

class PairedTables final : public Tables {
 public:
  explicit PairedTables(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}

  int begin(bool writes, std::unique_ptr<Transaction>& transaction) override {
    const bool second = second_;
    std::unique_ptr<Transaction> inner;
    const int begun = tables_->begin(writes, inner);
    if (inner) transaction = std::make_unique<Paired>(std::move(inner), second);
    return begun;
  }
  int check_room(Table table, std::size_t value_bytes) override {
    return tables_->check_room(place(table, second_), value_bytes);
  }

  void serve(bool second) { second_ = second; }

 private:
  static Table place(Table table, bool second) {
    if (!second) return table;
    switch (table) {
      case kCommitted: return kNext;
      case kNext: return kCommitted;
      case kMacs: return kNextMacs;
      case kNextMacs: return kMacs;
      default: return table;
    }
  }

  class Paired final : public Transaction {
   public:
    Paired(std::unique_ptr<Transaction> inner, bool second)
        : inner_(std::move(inner)), second_(second) {}
    int find(Table table, ByteSpan name, ByteSpan& value) override {
      return inner_->find(place(table, second_), name, value);
    }
    int put(Table table, ByteSpan name, ByteSpan value) override {
      return inner_->put(place(table, second_), name, value);
    }
    int erase(Table table, ByteSpan name) override {
      return inner_->erase(place(table, second_), name);
    }
    int clear(Table table) override { return inner_->clear(place(table, second_)); }
    int count(Table table, std::size_t& entries) override {
      return inner_->count(place(table, second_), entries);
    }
    int each(Table table, const std::function<bool(ByteSpan, ByteSpan)>& visit) override {
      return inner_->each(place(table, second_), visit);
    }
    int each_after(Table table, ByteSpan name,
                   const std::function<bool(ByteSpan, ByteSpan)>& visit) override {
      return inner_->each_after(place(table, second_), name, visit);
    }
    int commit() override { return inner_->commit(); }

   private:
    const std::unique_ptr<Transaction> inner_;
    const bool second_;
  };

  const std::unique_ptr<Tables> tables_;
  std::atomic<bool> second_{false};
};

}  // namespace tkdc
