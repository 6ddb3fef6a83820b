// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/spare.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace tkdc::cli {

namespace fs = std::filesystem;

namespace {

// Folders of links to units that others want.
std::vector<fs::path> wanted(const std::string& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".wants" || ending == ".requires") out.push_back(entry.path());
  }
  return out;
}

}  // namespace

bool is_enabled(const std::string& unit, const std::string& folder) {
  std::error_code error;
  // What the link leads to is in a folder that systemd alone has to find.
  return std::ranges::any_of(wanted(folder), [&](const fs::path& links) {
    return fs::symlink_status(links / unit, error).type() != fs::file_type::not_found;
  });
}

std::set<std::string> started_instances(const std::string& unit_template,
                                        const std::string& folder) {
  std::set<std::string> out;
  std::error_code error;
  const std::string begins = unit_template + "@", ends = ".service";
  for (const fs::path& links : wanted(folder))
    for (const auto& entry : fs::directory_iterator(links, error)) {
      const std::string unit = entry.path().filename().string();
      if (unit.starts_with(begins) && unit.ends_with(ends) &&
          unit.size() > begins.size() + ends.size())
        out.insert(unit.substr(begins.size(), unit.size() - begins.size() - ends.size()));
    }
  return out;
}

bool is_of_a_spare(const std::string& agent, const std::string& folder) {
  return is_enabled("krb5-kdc.service", folder) &&
         !is_enabled("krb5-admin-server.service", folder) &&
         !is_enabled("tkdc-agent@" + agent + ".service", folder);
}

}  // namespace tkdc::cli
