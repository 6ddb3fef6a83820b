// SPDX-License-Identifier: Apache-2.0
// A store that a test opens in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "service/store/store.h"

namespace tkdc {

inline std::unique_ptr<Store> open_small_store(const std::string& path) {
  StoreOptions options;
  options.path = path;
  options.map_bytes = 1 << 20;
  auto store = Store::open(options, SecretBuffer(32));
  EXPECT_TRUE(store.ok());
  return std::move(*store);
}

}  // namespace tkdc
