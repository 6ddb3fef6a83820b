// SPDX-License-Identifier: Apache-2.0
#include "base/daemon_options.h"

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "base/version.h"

namespace tkdc {

std::optional<DaemonOptions> daemon_options(int argc, char** argv, const std::string& name,
                                            const std::string& what, const std::string& example,
                                            int& exit_status) {
  constexpr int kWrongUsage = 2;
  DaemonOptions options;
  CLI::App app(what, name);
  app.set_version_flag("--version", name + " " + kVersionAndCommit);
  app.add_option("--config", options.config, "its configuration file")->required();
  app.add_flag("--check-config", options.check_only,
               "say whether the configuration is good, and end");
  std::string log = "text";
  app.add_option("--log", log,
                 "how it logs: text, which has fields in the journal, or json, an object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.footer("Example: " + name + " --config " + example + " --check-config");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_status = app.exit(error) == 0 ? 0 : kWrongUsage;
    return std::nullopt;
  }
  if (log == "json") log_as(LogFormat::kJson);
  return options;
}

}  // namespace tkdc
