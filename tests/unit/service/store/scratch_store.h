// SPDX-License-Identifier: Apache-2.0
// A store in a directory of its own that goes away with the test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "service/store/lmdb_tables.h"
#include "service/store/store.h"
#include "support/scratch.h"

namespace tkdc {

class ScratchStore : public testing::Test {
 protected:
  ScratchStore() : key_(sodium_init() < 0 ? 0 : 32) {
    directory_ = test::make_scratch("store");
    randombytes_buf(key_.data(), key_.size());
    options_.path = directory_ + "/store";
    options_.installation.fill(0x11);
    options_.party = 1;
    options_.map_bytes = 64u << 20;
  }
  ~ScratchStore() override {
    store_.reset();
    std::filesystem::remove_all(directory_);
  }

  void open() {
    store_.reset();
    auto opened = Store::open(options_, key_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(*opened);
  }

  // Makes a store as there were before keyrings: key_ itself encrypts its values.
  void without_keyring() {
    store_.reset();
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
    ASSERT_TRUE(tables.ok()) << tables.error().message;
    ASSERT_TRUE(Store::open_on(std::move(*tables), options_, key_).ok());
  }

  static KeyId id_of(std::uint32_t number) {
    KeyId id{};
    for (int i = 0; i < 4; ++i)
      id[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
    return id;
  }

  KeyRecord record(std::uint32_t number, std::size_t field_bytes = 32) const {
    KeyRecord r;
    r.ref.id = id_of(number);
    r.ref.installation = options_.installation;
    r.ref.principal.fill(static_cast<std::uint8_t>(number));
    r.ref.kvno = number;
    r.ref.enctype = 18;
    r.principal_name = "user" + std::to_string(number) + "@EXAMPLE.ORG";
    r.created_at_s = 1'700'000'000;
    for (const char* name : {"base", "u1.ke"})
      for (SecretVector& component : r.fields[name].component)
        component.assign(field_bytes, static_cast<std::uint8_t>(number + 1));
    return r;
  }

  void add(std::uint32_t number) {
    auto done = store_->prepare(record(number));
    ASSERT_TRUE(done.ok()) << done.error().message;
    done = store_->commit(id_of(number));
    ASSERT_TRUE(done.ok()) << done.error().message;
  }

  // As if sessions up to this epoch had been.
  void use_epochs(std::uint32_t epoch) {
    auto done = store_->set_epochs({0, epoch, epoch});
    ASSERT_TRUE(done.ok()) << done.error().message;
  }

  std::string directory_;
  StoreOptions options_;
  SecretBuffer key_;
  std::unique_ptr<Store> store_;
};

}  // namespace tkdc
