// SPDX-License-Identifier: Apache-2.0
// `tkdc keys`: of how many keys a store has shares. It reads no share and no store key; the package
// asks it before the server is removed.
#include <iostream>
#include <memory>

#include "service/store/key_count.h"
#include "tools/cli/commands.h"

namespace tkdc::cli {

void add_keys(CLI::App& app, int& exit_status) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("keys", "of how many keys a server's store has shares");
  command->add_option("store", *folder, "the store's folder")->required();
  command->callback([folder, &exit_status] {
    const Result<std::size_t> keys = count_keys(*folder);
    if (keys)
      std::cout << *keys << "\n";
    else
      std::cerr << "tkdc keys: " << keys.error().message << "\n";
    exit_status = keys ? 0 : 1;
  });
}

}  // namespace tkdc::cli
