// SPDX-License-Identifier: Apache-2.0
// `tkdc init`: makes the files of a new installation and says what to do next.
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/installation.h"

namespace tkdc::cli {
namespace {

struct Options {
  std::string out;
  Plan plan;
};

void print_next_steps(const Options& options) {
  const std::string& out = options.out;
  std::cout << "Made an installation for realm " << options.plan.realm << " in " << out << ":\n\n";
  for (std::size_t party = 0; party < 3; ++party)
    std::cout << "  " << out << "/server" << party << "   tkdc-server on "
              << options.plan.hosts[party] << "\n";
  std::cout << "  " << out << "/agent-kdc   tkdc-agent for krb5kdc\n"
            << "  " << out << "/agent-admin   tkdc-agent for kadmind and kadmin.local\n\n"
            << "Next:\n"
            << "  1. Move each server's folder to its own machine and administrator, the agents'\n"
            << "     folders to the KDC host, and delete this copy: two servers' folders together\n"
            << "     are as good as every key.\n"
            << "  2. On each server:    tkdc-server --config tkdc.toml\n"
            << "  3. On the KDC host:   tkdc-agent --config agent.toml   (both agents)\n"
            << "  4. See that all stands: tkdc status --config " << out << "/agent-kdc/agent.toml\n"
            << "  5. Point krb5kdc and kadmind at the agents' sockets; then create the realm.\n\n"
            << "security: semi-honest (" << kSecurityMeaning << ")\n";
}

int run_init(const Options& options) {
  auto report = [](const Error& error) {
    std::cerr << "tkdc init: " << error.message << "\n";
    return 1;
  };
  if (Result<void> checked = check_plan(options.plan); !checked) return report(checked.error());
  Result<Tree> tree = Tree::begin(options.out);
  if (!tree) return report(tree.error());
  if (Result<void> made = write_installation(options.plan, *tree); !made)
    return report(made.error());
  if (Result<void> published = tree->publish(); !published) return report(published.error());
  print_next_steps(options);
  return 0;
}

}  // namespace

void add_init(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("init", "make the files of a new installation");
  command->add_option("--out", options->out, "folder to make; must not exist or be empty")
      ->required();
  command->add_option("--realm", options->plan.realm, "Kerberos realm it is for")->required();
  command->add_option("--base-port", options->plan.base_port,
                      "first port: control base+party, data base+10+party")
      ->capture_default_str();
  command->add_option("--lanes", options->plan.lanes, "connections between servers")
      ->capture_default_str();
  for (std::size_t party = 0; party < 3; ++party)
    command->add_option("--host" + std::to_string(party), options->plan.hosts[party],
                        "host name or IPv4 address of server " + std::to_string(party))
        ->capture_default_str();
  command->callback([options, &exit_status] { exit_status = run_init(*options); });
}

}  // namespace tkdc::cli
