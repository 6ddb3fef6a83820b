// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/spare.h"

#include <filesystem>

namespace tkdc::cli {

namespace fs = std::filesystem;

bool is_enabled(const std::string& unit, const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".wants" && ending != ".requires") continue;
    // What the link leads to is in a folder that systemd alone has to find.
    if (fs::symlink_status(entry.path() / unit, error).type() != fs::file_type::not_found)
      return true;
  }
  return false;
}

bool is_of_a_spare(const std::string& agent, const std::string& folder) {
  return is_enabled("krb5-kdc.service", folder) &&
         !is_enabled("krb5-admin-server.service", folder) &&
         !is_enabled("tkdc-agent@" + agent + ".service", folder);
}

}  // namespace tkdc::cli
