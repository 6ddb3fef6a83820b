// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/installation.h"

#include <arpa/inet.h>

#include <algorithm>
#include <sstream>

#include "base/curve_key.h"
#include "base/hex.h"
#include "link/certificate.h"
#include "session/session.h"

namespace tkdc::cli {
namespace {

constexpr std::size_t kStoreKeyBytes = 32;

struct Party {
  CurveKeys curve;
  Certificate certificate;
};

struct AgentPart {
  const char* name;
  const char* role;
  CurveKeys curve;
};

// The secret half as the text of its file.
Result<CurveKeys> draw_curve_keys() {
  auto keys = new_curve_keys();
  if (!keys) return fail("this libzmq has no CURVE; install one that was built with libsodium");
  keys->secret_text.push_back('\n');
  return std::move(*keys);
}

// An address that stands for itself on this machine; a name, which may resolve
// differently there, makes the server listen on all interfaces.
std::string listen_host(const std::string& host) {
  in_addr v4{};
  return ::inet_pton(AF_INET, host.c_str(), &v4) == 1 ? host : "0.0.0.0";
}

bool valid_host(const std::string& host) {
  return !host.empty() && host.size() <= 253 && host.front() != '-' &&
         std::all_of(host.begin(), host.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '-'; });
}

// The realm only goes into comments and certificate labels.
bool valid_realm(const std::string& realm) {
  return !realm.empty() && realm.size() <= 255 &&
         std::all_of(realm.begin(), realm.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
         });
}

std::string control_address(const Plan& plan, int party) {
  return "tcp://" + plan.hosts[static_cast<std::size_t>(party)] + ":" +
         std::to_string(plan.base_port + party);
}

std::string server_toml(const Plan& plan, const std::string& id, int party,
                        const std::array<Party, 3>& parties,
                        const std::array<AgentPart, 2>& agents) {
  std::string listen = listen_host(plan.hosts[static_cast<std::size_t>(party)]);
  std::ostringstream out;
  out << "# tkdc-server, party " << party << " of 3, realm " << plan.realm
      << "; see tkdc-server(8).\n"
      << "# Relative paths are relative to this file; %d/NAME is systemd's credentials "
         "directory.\n\n"
      << "[installation]\nid = \"" << id << "\"\nparty = " << party << "\nsecurity = \""
      << plan.security << "\"\n\n"
      << "[control]\nlisten = \"tcp://" << listen << ":" << plan.base_port + party
      << "\"\ncurve_secret_key_file = \"curve.key\"\n";
  for (const AgentPart& agent : agents)
    out << "\n[[agents]]\nname = \"" << agent.name << "\"\nrole = \"" << agent.role
        << "\"\ncurve_public_key = \"" << agent.curve.public_text << "\"\n";
  out << "\n[data]\nlisten = \"" << listen << ":" << plan.base_port + kDataPortOffset + party
      << "\"\nlanes = " << plan.lanes
      << "\ncertificate_file = \"tls.cert.pem\"\nprivate_key_file = \"tls.key.pem\"\n"
      << "backend = \"auto\"\n";
  for (int peer = 0; peer < 3; ++peer) {
    if (peer == party) continue;
    out << "\n[[peers]]\nparty = " << peer << "\naddress = \""
        << plan.hosts[static_cast<std::size_t>(peer)] << ":"
        << plan.base_port + kDataPortOffset + peer << "\"\ncertificate_sha256 = \""
        << to_hex(parties[static_cast<std::size_t>(peer)].certificate.sha256) << "\"\n";
  }
  out << "\n[store]\npath = \"store\"\nkey_file = \"store.key\"\nmap_size_mib = 16384\n\n"
      << "[audit]\nfile = \"audit.jsonl\"\n";
  return out.str();
}

std::string agent_toml(const Plan& plan, const std::string& id, const AgentPart& agent,
                       const std::array<Party, 3>& parties) {
  std::ostringstream out;
  out << "# tkdc-agent " << agent.name << ", realm " << plan.realm << "; see tkdc-agent(8).\n"
      << "# Relative paths are relative to this file; %d/NAME is systemd's credentials "
         "directory.\n\n"
      << "[installation]\nid = \"" << id << "\"\nsecurity = \"" << plan.security << "\"\n\n"
      << "[agent]\nname = \"" << agent.name << "\"\nrole = \"" << agent.role
      << "\"\nsocket = \"agent.sock\"\ncurve_secret_key_file = \"curve.key\"\n"
      << "operations_log = \"operations.jsonl\"\nmax_pending = 8192\n";
  for (int party = 0; party < 3; ++party)
    out << "\n[[servers]]\nparty = " << party << "\naddress = \"" << control_address(plan, party)
        << "\"\ncurve_public_key = \"" << parties[static_cast<std::size_t>(party)].curve.public_text
        << "\"\n";
  return out.str();
}

Result<void> write_server(const Plan& plan, const std::string& id, int party,
                          const std::array<Party, 3>& parties,
                          const std::array<AgentPart, 2>& agents, Tree& tree) {
  const Party& self = parties[static_cast<std::size_t>(party)];
  std::string folder = "server" + std::to_string(party);
  SecretVector store_key(kStoreKeyBytes);
  randombytes_buf(store_key.data(), store_key.size());
  struct Entry {
    const char* name;
    ByteSpan contents;
  };
  std::string toml = server_toml(plan, id, party, parties, agents);
  auto text = [](const std::string& s) {
    return ByteSpan(reinterpret_cast<const std::uint8_t*>(s.data()), s.size());
  };
  const Entry entries[] = {{"tkdc.toml", text(toml)},
                           {"curve.key", self.curve.secret_text},
                           {"tls.key.pem", self.certificate.private_key_pem},
                           {"tls.cert.pem", text(self.certificate.certificate_pem)},
                           {"store.key", store_key}};
  if (Result<void> made = tree.folder(folder); !made) return made;
  if (Result<void> made = tree.folder(folder + "/store"); !made) return made;
  for (const Entry& entry : entries)
    if (Result<void> made = tree.file(folder + "/" + entry.name, entry.contents); !made)
      return made;
  return {};
}

Result<void> write_agent(const Plan& plan, const std::string& id, const AgentPart& agent,
                         const std::array<Party, 3>& parties, Tree& tree) {
  std::string folder = agent.name;
  if (Result<void> made = tree.folder(folder); !made) return made;
  if (Result<void> made = tree.file(folder + "/agent.toml", agent_toml(plan, id, agent, parties));
      !made)
    return made;
  return tree.file(folder + "/curve.key", ByteSpan(agent.curve.secret_text));
}

}  // namespace

Result<void> check_plan(const Plan& plan) {
  if (!valid_realm(plan.realm))
    return fail("--realm " + plan.realm + ": letters, digits, '.', '-' and '_' only");
  if (plan.base_port < 1024 || plan.base_port + kDataPortOffset + 2 > 65535)
    return fail("--base-port must be from 1024 to " + std::to_string(65535 - kDataPortOffset - 2));
  if (plan.lanes < 1 || plan.lanes > kMaxLanes)
    return fail("--lanes must be from 1 to " + std::to_string(kMaxLanes));
  for (std::size_t party = 0; party < 3; ++party)
    if (!valid_host(plan.hosts[party]))
      return fail("--host" + std::to_string(party) + " must be a host name or an IPv4 address");
  return {};
}

Result<void> write_installation(const Plan& plan, Tree& tree) {
  std::array<std::uint8_t, 16> id_bytes;
  randombytes_buf(id_bytes.data(), id_bytes.size());
  std::string id = to_hex(id_bytes);

  std::array<Party, 3> parties;
  for (int party = 0; party < 3; ++party) {
    auto curve = draw_curve_keys();
    if (!curve) return curve.error();
    auto certificate = make_certificate("tkdc server " + std::to_string(party));
    if (!certificate) return certificate.error();
    parties[static_cast<std::size_t>(party)] = {std::move(curve).value(),
                                                std::move(certificate).value()};
  }
  std::array<AgentPart, 2> agents{{{"agent-kdc", "kdc", {}}, {"agent-admin", "admin", {}}}};
  for (AgentPart& agent : agents) {
    auto curve = draw_curve_keys();
    if (!curve) return curve.error();
    agent.curve = std::move(curve).value();
  }

  for (int party = 0; party < 3; ++party)
    if (Result<void> made = write_server(plan, id, party, parties, agents, tree); !made)
      return made;
  for (const AgentPart& agent : agents)
    if (Result<void> made = write_agent(plan, id, agent, parties, tree); !made) return made;
  return {};
}

}  // namespace tkdc::cli
