// SPDX-License-Identifier: Apache-2.0
// `tkdc unit`: tells systemd of one member what its unit's template cannot know: its credentials,
// and whom it may talk to (tools/setup/unit_drop_in.h). `tkdc join` does it too.
#include <iostream>
#include <memory>

#include "tools/cli/commands.h"
#include "tools/cli/printable.h"
#include "tools/setup/unit_drop_in.h"

namespace tkdc::cli {
namespace {

struct UnitCommand {
  std::string config, out;
  bool any_address = false;
};

Result<void> write_unit(const UnitCommand& command) {
  auto facts = setup::unit_facts(command.config, command.any_address);
  if (!facts) return facts.error();
  auto text = setup::drop_in_text(*facts);
  if (!text) return text.error();
  if (command.out == "-") {
    std::cout << *text;
    return {};
  }
  const std::string path = command.out.empty() ? setup::drop_in_path(facts->unit) : command.out;
  if (auto written = setup::write_drop_in(path, *text); !written) return written;
  std::cout << "Wrote " << path << ". Next:\n\n  systemctl daemon-reload\n  systemctl restart "
            << facts->unit << "\n";
  return {};
}

}  // namespace

void add_unit(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<UnitCommand>();
  CLI::App* command =
      app.add_subcommand("unit", "tell systemd a member's credentials, and whom it may talk to");
  command->add_option("--config", options->config, "/etc/tkdc/NAME/tkdc.toml or agent.toml")
      ->required();
  command->add_flag("--any-address", options->any_address, "it may talk to everybody");
  command->add_option("--out", options->out, "the file, unless where systemd looks; - to look at");
  command->callback([options, &exit_status] {
    const Result<void> done = write_unit(*options);
    if (!done) std::cerr << "tkdc unit: " << printable(done.error().message) << "\n";
    exit_status = done ? 0 : 1;
  });
}

}  // namespace tkdc::cli
