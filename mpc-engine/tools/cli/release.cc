// SPDX-License-Identifier: Apache-2.0
// `tkdc release`: opens the latch that a server closed after a deviation, and ends what else its
// status says until somebody has looked.
#include <iostream>
#include <memory>

#include "service/server/audit_mark.h"
#include "service/server/broken_checks.h"
#include "service/server/config.h"
#include "service/server/latch.h"
#include "tools/cli/commands.h"

namespace tkdc::cli {
namespace {

int failed(const Error& error) {
  std::cerr << "tkdc release: " << error.message << "\n";
  return 1;
}

int run_release(const std::string& path) {
  auto config = load_server_config(path);
  if (!config) return failed(config.error());
  const std::string file = latch_file(config->store_path);
  const std::string reason = Latch(file).reason();
  const std::string broken_file = broken_checks_file(config->store_path);
  const std::string broken = describe(BrokenChecks(broken_file).all());
  const std::string behind_file = audit_behind_file(config->store_path);
  const std::string behind = read_audit_behind(behind_file);
  auto seen = forget_audit_behind(behind_file);
  if (!seen) return failed(seen.error());
  // First: else the next one would close the latch again.
  auto forgotten = forget_broken_checks(broken_file);
  if (!forgotten) return failed(forgotten.error());
  auto released = release_latch(file);
  if (!released) return failed(released.error());
  if (*released)
    std::cout << "Released. It was latched because: " << reason
              << "\nThe server notices within a second. Release the other "
              << (config->parties == 2 ? "one" : "two")
              << " as well; if it happens again, one of the servers is broken or corrupt.\n";
  else
    std::cout << "This server is not latched; nothing to do. If `tkdc status` shows it as latched "
                 "all the same, its disk could not be written then: restart it.\n";
  if (*seen)
    std::cout << "What the audit log lacks is not said any more; the log itself keeps it. It was: "
              << behind << ".\n";
  if (*forgotten) std::cout << "Broken checks are counted anew. There were " << broken << ".\n";
  return 0;
}

}  // namespace

void add_release(CLI::App& app, int& exit_status) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "release",
      "let a server that saw a deviation start sessions again, count broken checks anew, and end "
      "the warning about an audit log that is not the one that was there");
  command->add_option("--config", *path, "the server's tkdc.toml")->required();
  command->callback([path, &exit_status] { exit_status = run_release(*path); });
}

}  // namespace tkdc::cli
