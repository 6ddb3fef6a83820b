// SPDX-License-Identifier: Apache-2.0
// `tkdc init`: makes the files of a new installation and says what to do next.
#include <iostream>
#include <memory>

#include "tools/cli/commands.h"
#include "tools/cli/installation.h"

namespace tkdc::cli {
namespace {

struct InitOptions {
  std::string out;
  Plan plan;
};

void print_next_steps(const InitOptions& options) {
  const std::string& out = options.out;
  std::cout << "Made an installation for realm " << options.plan.realm << " in " << out << ":\n\n";
  for (std::size_t party = 0; party < 3; ++party)
    std::cout << "  " << out << "/server" << party << "   tkdc-server on "
              << options.plan.hosts[party] << "\n";
  std::cout << "  " << out << "/agent-kdc   tkdc-agent for krb5kdc\n"
            << "  " << out << "/agent-admin   tkdc-agent for kadmind and kadmin.local\n\n"
            << "Next, as in docs/operations.md, An installation, from step 2 on: move each\n"
            << "server's folder to its own machine and administrator and the agents' folders to\n"
            << "the KDC host, then delete this copy: two servers' folders together are as good\n"
            << "as every key. To try everything on this machine, see tkdc(8), EXAMPLES.\n\n"
            << "security: " << options.plan.security << " ("
            << security_meaning(options.plan.security) << ")\n";
}

int run_init(const InitOptions& options) {
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
  auto options = std::make_shared<InitOptions>();
  CLI::App* command = app.add_subcommand("init", "make the files of a new installation");
  command->add_option("--out", options->out, "folder to make; must not exist or be empty")
      ->required();
  command->add_option("--realm", options->plan.realm, "Kerberos realm it is for")->required();
  command
      ->add_option("--base-port", options->plan.base_port,
                   "first port: control base+party, data base+10+party")
      ->capture_default_str();
  command->add_option("--security", options->plan.security, "malicious or semi-honest")
      ->check(CLI::IsMember({"malicious", "semi-honest"}))
      ->capture_default_str();
  command->add_option("--lanes", options->plan.lanes, "connections between servers")
      ->capture_default_str();
  std::array<CLI::Option*, 3> hosts{};
  for (std::size_t party = 0; party < 3; ++party)
    hosts[party] = command
                       ->add_option("--host" + std::to_string(party), options->plan.hosts[party],
                                    "host name or IPv4 address of server " + std::to_string(party) +
                                        "; all three or none")
                       ->capture_default_str();
  // A host that was forgotten would be this machine.
  for (CLI::Option* host : hosts)
    for (CLI::Option* other : hosts)
      if (host != other) host->needs(other);
  command->callback([options, &exit_status] { exit_status = run_init(*options); });
}

}  // namespace tkdc::cli
