// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/configuration.h"

#include <filesystem>
#include <sstream>

#include "base/credential.h"
#include "base/hex.h"
#include "tools/setup/host_name.h"

namespace tkdc::setup {
namespace {

constexpr const char* kPathsAre =
    "# Relative paths are relative to this file; %d/NAME is systemd's credentials directory.\n\n";

const Introduction* former_of(const Roster& roster, const Introduction& member) {
  const auto found = roster.former.find(member.name());
  return found == roster.former.end() ? nullptr : &found->second;
}

void put_agents(std::ostringstream& out, const Roster& roster) {
  for (const Introduction& agent : roster.agents) {
    out << "\n[[agents]]\nname = \"" << agent.agent()->name << "\"\nrole = \""
        << agent.agent()->role << "\"\ncurve_public_key = \"" << agent.curve_public_key << "\"\n";
    if (const Introduction* former = former_of(roster, agent))
      out << "former_curve_public_key = \"" << former->curve_public_key << "\"\n";
    if (!agent.host.empty()) out << "host = \"" << agent.host << "\"\n";
  }
}

void put_approvers(std::ostringstream& out, const Roster& roster) {
  for (const Introduction& server : roster.servers)
    if (const std::optional<Approver>& approver = server.server()->approver)
      out << "\n[[approvers]]\nname = \"" << approver->name << "\"\nparty = " << approver->party
          << "\npublic_key = \"" << to_hex(approver->public_key) << "\"\n";
}

void put_peers(std::ostringstream& out, const Roster& roster, int party) {
  for (const Introduction& peer : roster.servers) {
    const ServerPart& server = *peer.server();
    if (server.party == party) continue;
    out << "\n[[peers]]\nparty = " << server.party << "\naddress = \""
        << host_port(peer.host, server.data_port) << "\"\ncertificate_sha256 = \""
        << to_hex(server.certificate_sha256) << "\"\n";
    if (const Introduction* former = former_of(roster, peer))
      out << "former_certificate_sha256 = \"" << to_hex(former->server()->certificate_sha256)
          << "\"\n";
  }
}

}  // namespace

Layout layout_of(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::absolute(folder + "/.").lexically_normal();
  const std::filesystem::path own = path.parent_path();
  Layout out;
  if (std::filesystem::exists(own / ("curve.key" + std::string(kCredentialEnding))))
    out.secrets = "%d/";
  if (own.parent_path() != "/etc/tkdc") return out;
  const std::string name = own.filename().string();
  out.store = "/var/lib/tkdc/" + name + "/store";
  out.audit = "/var/lib/tkdc/" + name + "/audit.jsonl";
  out.socket = "/run/tkdc/" + name + "/agent.sock";
  out.socket_group = "tkdc-" + name;
  out.operations_log = "/var/lib/tkdc/" + name + "/operations.jsonl";
  return out;
}

std::string server_toml(const Roster& roster, int party, const std::string& listen,
                        const Layout& layout) {
  const Introduction& self = roster.servers[static_cast<std::size_t>(party)];
  const ServerPart& server = *self.server();
  std::ostringstream out;
  out << "# tkdc-server, party " << party << " of " << self.servers << ", realm " << self.realm
      << "; see tkdc-server(8).\n"
      << kPathsAre << "[installation]\nid = \"" << to_hex(self.installation) << "\"\n"
      << (self.servers == 2 ? "parties = 2\n" : "") << "party = " << party << "\nsecurity = \""
      << security_name(self.security) << "\"\n\n[control]\nlisten = \"tcp://"
      << host_port(listen, server.control_port) << "\"\ncurve_secret_key_file = \""
      << layout.secrets << "curve.key\"\n";
  put_agents(out, roster);
  put_approvers(out, roster);
  out << "\n[data]\nlisten = \"" << host_port(listen, server.data_port)
      << "\"\nlanes = " << server.lanes
      << "\ncertificate_file = \"tls.cert.pem\"\nprivate_key_file = \"" << layout.secrets
      << "tls.key.pem\"\n"
      << "backend = \"auto\"\n";
  put_peers(out, roster, party);
  out << "\n[store]\npath = \"" << layout.store << "\"\nkey_file = \"" << layout.secrets
      << "store.key\"\nmap_size_mib = 16384\n\n[audit]\nfile = \"" << layout.audit << "\"\n";
  return out.str();
}

std::string agent_toml(const Roster& roster, const Introduction& agent, const Layout& layout) {
  const AgentPart& self = *agent.agent();
  std::ostringstream out;
  out << "# tkdc-agent " << self.name << ", realm " << agent.realm << "; see tkdc-agent(8).\n"
      << kPathsAre << "[installation]\nid = \"" << to_hex(agent.installation) << "\"\nsecurity = \""
      << security_name(agent.security) << "\"\n\n[agent]\nname = \"" << self.name << "\"\nrole = \""
      << self.role << "\"\nsocket = \"" << layout.socket << "\"\n";
  if (!layout.socket_group.empty()) out << "socket_group = \"" << layout.socket_group << "\"\n";
  out << "curve_secret_key_file = \"" << layout.secrets << "curve.key\"\noperations_log = \""
      << layout.operations_log << "\"\nmax_pending = 8192\nrequest_ids = true\n";
  for (const Introduction& server : roster.servers) {
    out << "\n[[servers]]\nparty = " << server.server()->party << "\naddress = \"tcp://"
        << host_port(server.host, server.server()->control_port) << "\"\ncurve_public_key = \""
        << server.curve_public_key << "\"\n";
    if (const Introduction* former = former_of(roster, server))
      out << "former_curve_public_key = \"" << former->curve_public_key << "\"\n";
  }
  return out.str();
}

}  // namespace tkdc::setup
