// SPDX-License-Identifier: Apache-2.0
// `tkdc init`: makes one member of an installation on its own machine (--party, --agent), or, to
// try tkdc out, all of them in one place; and says what to do next.
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/credential.h"
#include "base/hardening.h"
#include "base/hex.h"
#include "tools/cli/commands.h"
#include "tools/cli/printable.h"
#include "tools/setup/host_name.h"
#include "tools/setup/installation.h"
#include "tools/setup/member.h"

namespace tkdc::cli {
namespace {

using setup::Introduction;

struct InitOptions {
  std::string out;
  setup::Plan plan;
  // Of one member.
  std::optional<int> party;
  std::string agent, role, host, installation, approver_name, approver_key;
  std::string credentials;  // what systemd-creds makes them with; "off": files
};

void print_whole(const InitOptions& options) {
  const std::string& out = options.out;
  std::cout << "Made an installation for realm " << options.plan.realm << " in " << out << ":\n\n";
  for (std::size_t party = 0; party < static_cast<std::size_t>(options.plan.servers); ++party)
    std::cout << "  " << out << "/server" << party << "   tkdc-server on "
              << options.plan.hosts[party] << "\n";
  std::cout << "  " << out << "/agent-kdc   tkdc-agent for krb5kdc\n"
            << "  " << out << "/agent-admin   tkdc-agent for kadmind and kadmin.local\n\n"
            << "This is for trying tkdc out: every secret of all servers lies in this one\n"
            << "place, and two servers' folders together are as good as every key. For keys that\n"
            << "matter each administrator makes his own: tkdc init --party, --agent, then tkdc\n"
            << "join (docs/operations.md, An installation). To start this one on this machine,\n"
            << "see tkdc(8), EXAMPLES.\n\n"
            << "security: " << options.plan.security << " ("
            << security_meaning(options.plan.security) << ")\n";
}

Result<void> make_whole(InitOptions& options) {
  if (Result<void> checked = setup::check_plan(options.plan); !checked) return checked;
  auto tree = setup::Tree::begin(options.out);
  if (!tree) return tree.error();
  if (Result<void> made = setup::write_installation(options.plan, *tree); !made) return made;
  if (Result<void> published = tree->publish(); !published) return published;
  print_whole(options);
  return {};
}

// What all members have alike: of the first one's making, or as another server's introduction says.
Result<void> take_installation(const InitOptions& options, Introduction& out, int& lanes) {
  if (options.installation.empty()) {
    out.installation = setup::draw_installation();
    out.realm = options.plan.realm;
    out.security = options.plan.security == security_name(Security::kMalicious)
                       ? Security::kMalicious
                       : Security::kSemiHonest;
    out.servers = options.plan.servers;
    lanes = options.plan.lanes.value_or(setup::usual_lanes(out.servers));
    return setup::check_realm(out.realm);
  }
  auto file = setup::read_introduction(options.installation);
  if (!file) return file.error();
  if (file->introduction.server() == nullptr)
    return fail(options.installation + " introduces an agent; give a server's");
  out.installation = file->introduction.installation;
  out.realm = file->introduction.realm;
  out.security = file->introduction.security;
  out.servers = file->introduction.servers;
  lanes = file->introduction.server()->lanes;
  return {};
}

Result<std::optional<Approver>> approver_of(const InitOptions& options) {
  if (options.approver_name.empty()) return std::optional<Approver>();
  Approver out;
  out.name = options.approver_name;
  out.party = *options.party;
  if (!setup::good_name(out.name))
    return fail("--approver-name: 1 to 64 letters, digits, '-', '_' or '.'");
  if (!from_hex(options.approver_key, out.public_key))
    return fail("--approver-key: 64 hexadecimal digits, as `tkdc approver` prints them");
  return std::optional<Approver>(out);
}

Result<void> describe_server(const InitOptions& options, int lanes, Introduction& out) {
  setup::ServerPart server;
  auto approver = approver_of(options);
  if (!approver) return approver.error();
  server.approver = *approver;
  server.party = *options.party;
  if (server.party >= out.servers)
    return fail("--party must be 0 or 1: the installation is of two servers");
  server.lanes = lanes;
  server.control_port = options.plan.base_port + server.party;
  server.data_port = options.plan.base_port + setup::kDataPortOffset + server.party;
  out.part = server;
  if (Result<void> checked = setup::check_lanes(lanes, out.servers); !checked) return checked;
  return setup::check_base_port(options.plan.base_port);
}

Result<Introduction> describe_member(const InitOptions& options) {
  Introduction out;
  int lanes = 0;
  if (Result<void> taken = take_installation(options, out, lanes); !taken) return taken.error();
  auto host = setup::canonical_host(options.host);
  if (!host) return fail("--host: " + host.error().message);
  out.host = *host;
  out.made_s = std::time(nullptr);
  if (options.party) {
    if (Result<void> made = describe_server(options, lanes, out); !made) return made.error();
    return out;
  }
  if (!setup::good_name(options.agent) || options.agent.starts_with("server"))
    return fail("--agent: 1 to 64 letters, digits, '-', '_' or '.', and not \"server...\"");
  out.part = setup::AgentPart{options.agent, options.role};
  return out;
}

// Credentials are of the unit that reads /etc/tkdc/NAME; elsewhere, and without systemd, files.
Result<setup::SecretForm> secret_form(const InitOptions& options) {
  const std::filesystem::path folder =
      std::filesystem::absolute(options.out + "/.").lexically_normal().parent_path();
  const bool for_unit = folder.parent_path() == "/etc/tkdc";
  if (options.credentials == "off") return setup::SecretForm{};
  if (options.credentials.empty())
    return setup::SecretForm{for_unit && can_make_credentials() ? "auto" : ""};
  if (!for_unit)
    return fail("--credentials are of a unit, which reads /etc/tkdc/NAME: choose that for --out");
  if (!can_make_credentials())
    return fail("--credentials: only root on a host with systemd makes them");
  return setup::SecretForm{options.credentials};
}

constexpr const char* kBackupsOfTwo =
    "\nWith two servers nobody can rebuild a store that is lost: a backup of each is the only way\n"
    "back. Give each server the backup.pub of its administrator's `tkdc backup key`, and take a\n"
    "first backup when it has started (docs/operations.md, A realm on two servers).\n";

void print_member(const InitOptions& options, const Introduction& made, const std::string& text) {
  const std::string file = introduction_file_name(made), path = options.out + "/" + file;
  std::cout << "Made " << made.name() << " for realm " << made.realm << " in " << options.out
            << ".\n\n  " << path << "   public: send it to the other administrators\n"
            << "  all else in there   secret: it stays on this machine\n\n";
  if (options.installation.empty())
    std::cout << "This begins a new installation. The other members are made with\n"
              << "--installation " << file << ".\n\n";
  std::cout << "Fingerprint of " << file
            << ", which you read to the others, by telephone say:\n\n  " << setup::fingerprint(text)
            << "\n\nNext, with "
            << (!options.party      ? (made.servers == 2 ? "both servers'" : "the three servers'")
                : made.servers == 2 ? "the other server's and the agents'"
                                    : "the other servers' and the agents'")
            << " introductions:\n\n  tkdc join --folder " << options.out
            << " FILE...\n\nsecurity: " << security_name(made.security) << " ("
            << security_meaning(security_name(made.security)) << ")\n";
  if (made.servers == 2 && options.party) std::cout << kBackupsOfTwo;
}

Result<void> make_member(const InitOptions& options) {
  auto described = describe_member(options);
  if (!described) return described.error();
  auto tree = setup::Tree::begin(options.out);
  if (!tree) return tree.error();
  auto form = secret_form(options);
  if (!form) return form.error();
  auto text = setup::write_member(*tree, *described, *form);
  if (!text) return text.error();
  if (Result<void> published = tree->publish(); !published) return published;
  print_member(options, *described, *text);
  if (form->credential_key.empty()) return {};
  std::cout << "\nThe unit's secrets are credentials: only this host opens them ("
            << form->credential_key << "), a copy\nof the folder is worth nothing elsewhere.\n";
  if (options.party)
    std::cout << "A backup is what another host can read: docs/operations.md, Backup. Without one"
              << (described->servers == 3 ? ", and\nwithout MACs on shares, they" : " the shares")
              << " die with this host.\n";
  return {};
}

int run_init(InitOptions& options) {
  forbid_dumps();
  const bool member = options.party.has_value() || !options.agent.empty();
  const Result<void> done = member ? make_member(options) : make_whole(options);
  if (!done) std::cerr << "tkdc init: " << printable(done.error().message) << "\n";
  return done ? 0 : 1;
}

// What belongs to the form for one member, and only there.
void add_member_options(CLI::App& command, InitOptions& options) {
  CLI::Option* party =
      command.add_option("--party", options.party, "make server 0, 1 or 2 alone, on its machine")
          ->check(CLI::Range(0, 2));
  CLI::Option* agent =
      command.add_option("--agent", options.agent, "make an agent of this name, on a KDC's host")
          ->excludes(party);
  CLI::Option* role = command.add_option("--role", options.role, "of the agent: kdc or admin")
                          ->check(CLI::IsMember({"kdc", "admin"}))
                          ->needs(agent);
  agent->needs(role);
  command.add_option("--host", options.host,
                     "name or address of this machine, as the other members reach it");
  command
      .add_option("--installation", options.installation,
                  "a server's introduction: the installation that this member belongs to")
      ->excludes("--realm")
      ->excludes("--servers")
      ->excludes("--security")
      ->excludes("--lanes");
  command
      .add_option("--credentials", options.credentials,
                  "secrets as systemd's encrypted credentials: off, or what opens them")
      ->check(CLI::IsMember({"off", "auto", "host", "tpm2", "host+tpm2"}));
  CLI::Option* name = command
                          .add_option("--approver-name", options.approver_name,
                                      "of this server's administrator, for exports")
                          ->needs(party);
  CLI::Option* key =
      command.add_option("--approver-key", options.approver_key, "as `tkdc approver` printed it")
          ->needs(name);
  name->needs(key);
}

void check_forms(const CLI::App& command) {
  const bool party = command.count("--party") > 0, agent = command.count("--agent") > 0;
  const bool whole = !party && !agent;
  auto refuse = [](const std::string& what) { throw CLI::ValidationError(what); };
  if (whole &&
      command.count("--host") + command.count("--installation") + command.count("--credentials") >
          0)
    refuse("--host, --installation and --credentials go with --party or --agent");
  if (!whole && command.count("--host") == 0)
    refuse("--host is needed: how the other members reach this machine");
  if (!whole && command.count("--host0") > 0)
    refuse("--host0 to --host2 are of a whole installation");
  if (agent && command.count("--installation") == 0)
    refuse("--installation is needed: a server's introduction");
  if (command.count("--installation") + command.count("--realm") == 0)
    refuse(party ? "--realm begins an installation, --installation FILE joins one: one is needed"
                 : "--realm is required");
  if (agent && command.count("--base-port") > 0) refuse("--base-port is a server's");
}

// Of a whole installation: a host that was forgotten would be this machine.
void check_servers(const CLI::App& command, const setup::Plan& plan) {
  auto refuse = [](const std::string& what) { throw CLI::ValidationError(what); };
  const bool two = plan.servers == 2;
  if (two && plan.security != security_name(Security::kMalicious))
    refuse("--servers 2 compute in malicious mode alone");
  if (two && command.count("--host2") > 0) refuse("--servers 2: there is no --host2");
  if (!two && command.count("--host0") != command.count("--host2"))
    throw CLI::RequiresError("--host1", "--host2");
}

}  // namespace

void add_init(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command = app.add_subcommand("init", "make a member of an installation, or all to try");
  command->add_option("--out", options->out, "folder to make; must not exist or be empty")
      ->required();
  command->add_option("--realm", options->plan.realm, "Kerberos realm it is for");
  command
      ->add_option("--base-port", options->plan.base_port,
                   "first port: control base+party, data base+10+party")
      ->capture_default_str();
  command->add_option("--servers", options->plan.servers, "that hold the realm's keys: 3 or 2")
      ->check(CLI::IsMember({2, 3}))
      ->capture_default_str();
  command->add_option("--security", options->plan.security, "malicious or semi-honest")
      ->check(CLI::IsMember({"malicious", "semi-honest"}))
      ->capture_default_str();
  command->add_option("--lanes", options->plan.lanes,
                      "connections between servers; default: 2, of two servers 1");
  std::array<CLI::Option*, 3> hosts{};
  for (std::size_t party = 0; party < 3; ++party)
    hosts[party] = command
                       ->add_option("--host" + std::to_string(party), options->plan.hosts[party],
                                    "of a whole installation: name or address of server " +
                                        std::to_string(party) + "; all or none")
                       ->capture_default_str();
  for (std::size_t party = 0; party < hosts.size(); ++party)
    hosts[party]->needs(hosts[party == 0 ? 1 : 0]);
  add_member_options(*command, *options);
  command->callback([options, command, &exit_status] {
    check_forms(*command);
    check_servers(*command, options->plan);
    exit_status = run_init(*options);
  });
}

}  // namespace tkdc::cli
