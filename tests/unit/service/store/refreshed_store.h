// SPDX-License-Identifier: Apache-2.0
// A store and what replaces its records.
#pragma once

#include "scratch_store.h"
#include "service/store/refresh_table.h"

namespace tkdc {

class Refresh : public ScratchStore {
 protected:
  KeyRecord newer(std::uint32_t number, std::uint32_t version = 2) const {
    KeyRecord r = record(number);
    r.version = version;
    for (auto& [name, value] : r.fields)
      for (SecretVector& component : value.component) component.assign(32, 0xee);
    return r;
  }
  RefreshedKey refreshed(std::uint32_t number, std::uint32_t version = 2) const {
    MacRow row;
    row.version = version;
    for (SecretVector& tag : row.tag) tag.assign(32, 7);
    return {newer(number, version), row};
  }
  void add_all(std::uint32_t count, std::uint32_t version = 2) {
    ASSERT_TRUE(store_->refresh()->begin().ok());
    std::vector<RefreshedKey> keys;
    for (std::uint32_t n = 1; n <= count; ++n) keys.push_back(refreshed(n, version));
    ASSERT_TRUE(store_->refresh()->add(keys).ok());
  }
  std::uint32_t version(std::uint32_t number) {
    auto got = store_->get(id_of(number));
    EXPECT_TRUE(got.ok() && *got != nullptr);
    return got.ok() && *got != nullptr ? (*got)->version : 0;
  }
  // As it stands in the file.
  std::uint8_t store_format() {
    store_.reset();
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
    EXPECT_TRUE(tables.ok());
    std::uint8_t format = 0;
    {
      Txn txn(**tables, false);
      ByteSpan owner;
      EXPECT_EQ(txn->find(Tables::kMeta, octets("owner"), owner), 0);
      format = owner[0];
    }
    tables->reset();
    open();
    return format;
  }
  void expect(std::uint32_t epoch, std::uint32_t versions, std::size_t rows) {
    EXPECT_EQ(store_->refresh()->state().epoch, epoch);
    EXPECT_EQ(store_->macs()->refresh_epoch(), epoch);
    EXPECT_EQ(store_->count(), 3u);
    for (std::uint32_t n = 1; n <= 3; ++n) EXPECT_EQ(version(n), versions);
    EXPECT_EQ(store_->macs()->rows(), rows);
  }
};

}  // namespace tkdc
