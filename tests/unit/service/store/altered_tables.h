// SPDX-License-Identifier: Apache-2.0
// A database of which a test may say that it cannot empty a table, look in while it writes, or
// count what is looked at.
#pragma once

#include <functional>

#include "service/store/tables.h"

namespace tkdc {

struct Alterations {
  std::function<void()> writing;  // called when a transaction is to be put on disk
  std::function<void()> written;  // and when it is there
  std::function<void()> visited;  // an entry, of each that each() or each_after() comes to
  int clear = 0;                  // the code of what empties a table
};

class AlteredTables final : public Tables {
 public:
  AlteredTables(std::unique_ptr<Tables> tables, const Alterations& altered)
      : tables_(std::move(tables)), altered_(altered) {}

  int begin(bool writes, std::unique_ptr<Transaction>& transaction) override {
    std::unique_ptr<Transaction> inner;
    const int begun = tables_->begin(writes, inner);
    if (inner) transaction = std::make_unique<Altered>(std::move(inner), altered_);
    return begun;
  }
  int check_room(Table table, std::size_t value_bytes) override {
    return tables_->check_room(table, value_bytes);
  }

 private:
  using Visit = std::function<bool(ByteSpan name, ByteSpan value)>;
  class Altered final : public Transaction {
   public:
    Altered(std::unique_ptr<Transaction> inner, const Alterations& altered)
        : inner_(std::move(inner)), altered_(altered) {}
    int find(Table table, ByteSpan name, ByteSpan& value) override {
      return inner_->find(table, name, value);
    }
    int put(Table table, ByteSpan name, ByteSpan value) override {
      return inner_->put(table, name, value);
    }
    int erase(Table table, ByteSpan name) override { return inner_->erase(table, name); }
    int clear(Table table) override {
      return altered_.clear != 0 ? altered_.clear : inner_->clear(table);
    }
    int count(Table table, std::size_t& entries) override { return inner_->count(table, entries); }
    int each(Table table, const Visit& visit) override { return inner_->each(table, noted(visit)); }
    int each_after(Table table, ByteSpan name, const Visit& visit) override {
      return inner_->each_after(table, name, noted(visit));
    }
    int commit() override {
      if (altered_.writing) altered_.writing();
      const int rc = inner_->commit();
      if (rc == 0 && altered_.written) altered_.written();
      return rc;
    }

   private:
    Visit noted(const Visit& visit) const {
      return [this, &visit](ByteSpan name, ByteSpan value) {
        if (altered_.visited) altered_.visited();
        return visit(name, value);
      };
    }
    const std::unique_ptr<Transaction> inner_;
    const Alterations& altered_;
  };

  const std::unique_ptr<Tables> tables_;
  const Alterations& altered_;
};

}  // namespace tkdc
