// SPDX-License-Identifier: Apache-2.0
// The store of a server that is stopped, opened by an administrator's command.
//
// The store's wrapping key is a file, or a credential of the host beside tkdc.toml, which only root
// opens. Root gives itself up for the store's owner then, so that no file of root's comes to lie in
// the store's folder. Secret: the key.
#pragma once

#include <memory>
#include <string>

#include "base/secret.h"
#include "service/server/config.h"
#include "service/store/store.h"

namespace tkdc::cli {

struct StoppedStore {
  ServerConfig config;
  std::string key_file;     // what holds the wrapping key
  bool credential = false;  // that file is a credential
  SecretBuffer key{32};

  StoreOptions options() const;
  // Error: also where its server runs.
  Result<std::unique_ptr<Store>> open() const;
};

// For commands that have no meaning with two servers. `what`: "`tkdc revoke` ...".
Result<void> only_of_three(const ServerConfig& config, const std::string& why_not);

// Reads the key; opens nothing yet. Error: there is no store.
Result<StoppedStore> find_stopped_store(const std::string& config);
// The same of a store that may be lost.
Result<StoppedStore> find_store_or_none(const std::string& config);
// From here on this process is the owner of the store's folder, if it was root's. Error: that is
// not who has the configuration (owner.h).
Result<void> become_owner(const StoppedStore& at);

}  // namespace tkdc::cli
