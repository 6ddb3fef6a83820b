// SPDX-License-Identifier: Apache-2.0
// A store's refresh of which a test takes a step away.
#pragma once

#include "service/store/refresh_table.h"

namespace tkdc {

class RefreshOver : public RefreshTable {
 public:
  explicit RefreshOver(RefreshTable& table) : table_(table) {}
  RefreshState state() override { return table_.state(); }
  Result<void> begin() override { return table_.begin(); }
  Result<void> add(std::span<const RefreshedKey> keys) override { return table_.add(keys); }
  Result<void> prepare_refresh(std::uint64_t at_s) override { return table_.prepare_refresh(at_s); }
  Result<void> commit_refresh() override { return table_.commit_refresh(); }
  Result<void> abandon_refresh() override { return table_.abandon_refresh(); }
  void give_up() override { table_.give_up(); }
  EntryId entry() override { return table_.entry(); }
  void switch_over() override { table_.switch_over(); }
  Result<void> begun_with() override { return table_.begun_with(); }
  Result<void> tidy() override { return table_.tidy(); }
  Result<void> undo_refresh() override { return table_.undo_refresh(); }

 private:
  RefreshTable& table_;
};

}  // namespace tkdc
