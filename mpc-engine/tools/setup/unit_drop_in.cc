// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/unit_drop_in.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "base/credential.h"
#include "base/durable_file.h"
#include "base/host_names.h"
#include "base/strict_toml.h"
#include "base/system_error.h"
#include "tools/setup/host_name.h"

namespace tkdc::setup {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "# Written by `tkdc unit`";

Result<void> hosts_of_agent(StrictToml& file, UnitFacts& facts) {
  for (TomlTable& server : file.tables("servers"))
    facts.hosts.push_back(host_of(server.text("address", "")));
  return {};
}

Result<void> hosts_of_server(StrictToml& file, UnitFacts& facts) {
  // Its own: programs of its host may ask it, too.
  for (const char* table : {"control", "data"})
    if (const std::string own = host_of(file.table(table).text("listen", ""));
        own != "0.0.0.0" && own != "::" && own != "*")
      facts.hosts.push_back(own);
  for (TomlTable& peer : file.tables("peers"))
    facts.hosts.push_back(host_of(peer.text("address", "")));
  for (TomlTable& agent : file.tables("agents")) {
    const std::string host = agent.text("host", "");
    if (host.empty())
      return fail(facts.configuration + ": the [[agents]] " + agent.text("name", "") +
                  " has no host, so nobody knows from where it comes; add host = \"ADDRESS\", or "
                  "let the unit talk to everybody: --any-address");
    facts.hosts.push_back(host);
  }
  return {};
}

void add_name_servers(std::set<std::string>& addresses) {
  std::ifstream in("/etc/resolv.conf");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word, address;
    if (words >> word >> address && word == "nameserver") addresses.insert(address);
  }
}

Result<std::string> address_lines(const UnitFacts& facts, const LookUp& look) {
  std::set<std::string> addresses;
  bool names = false;
  for (const std::string& host : facts.hosts) {
    auto found = look(host);
    if (!found) return found.error();
    addresses.merge(*found);
    names = names || !is_address(host);
  }
  if (names) add_name_servers(addresses);
  std::string out = "IPAddressDeny=any\nIPAddressAllow=";
  for (const std::string& address : addresses) out += (out.back() == '=' ? "" : " ") + address;
  if (names)
    out.insert(0, "# Of names, as they were when this was written, with the name servers.\n");
  return out + "\n";
}

// Those that a unit can have. The folder is the service's own, so no other name of a file in it
// gets into what systemd reads as root.
std::vector<std::string> credentials_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (const char* name : {"curve.key", "store.key", "tls.key.pem"})
    if (fs::exists(folder / (name + std::string(kCredentialEnding)), error)) out.emplace_back(name);
  return out;
}

}  // namespace

Result<std::set<std::string>> look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error != 0)
    return fail(host + " has no address now (" + ::gai_strerror(error) +
                "), so the unit cannot be told whom it may talk to; run `tkdc unit` again when it "
                "has, or with --any-address");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  std::set<std::string> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, nullptr, 0,
                      NI_NUMERICHOST) == 0)
      addresses.insert(text);
  }
  return addresses;
}

Result<UnitFacts> unit_facts(const std::string& configuration, bool any_address) {
  StrictToml file;
  if (auto loaded = file.load(configuration); !loaded) return loaded.error();
  const fs::path path = fs::absolute(configuration).lexically_normal();
  const bool agent = file.table("agent").has("socket");
  UnitFacts facts;
  facts.configuration = path.string();
  if (path.parent_path().parent_path() != "/etc/tkdc")
    return fail(path.string() + " is no unit's: those are in /etc/tkdc/NAME");
  facts.unit =
      std::string(agent ? "tkdc-agent@" : "tkdc-server@") + path.parent_path().filename().string();
  facts.any_address = any_address;
  if (any_address) return facts;
  auto hosts = agent ? hosts_of_agent(file, facts) : hosts_of_server(file, facts);
  if (!hosts) return hosts.error();
  return facts;
}

std::string drop_in_path(const std::string& unit) {
  return "/etc/systemd/system/" + unit + ".service.d/tkdc.conf";
}

Result<std::string> drop_in_text(const UnitFacts& facts, const LookUp& look) {
  const fs::path folder = fs::path(facts.configuration).parent_path();
  std::string out = std::string(kMark) + " from " + facts.configuration +
                    ", and written anew by the\n# next one: what you want besides belongs in "
                    "another file of this folder.\n[Service]\n";
  for (const std::string& name : credentials_in(folder))
    out += "LoadCredentialEncrypted=" + name + ":" + (folder / name).string() +
           std::string(kCredentialEnding) + "\n";
  if (facts.any_address) return out;
  auto lines = address_lines(facts, look);
  if (!lines) return lines.error();
  return out + *lines;
}

Result<void> write_drop_in(const std::string& path, const std::string& text) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail("cannot make " + folder.string() + ": " + error.message());
  std::ifstream before(path);
  std::string first;
  if (before && std::getline(before, first) && !first.starts_with(kMark))
    return fail(path + " is there, and not of `tkdc unit`: give it another name");
  if (!replace_durably(path, text, 0644)) return system_error("cannot write " + path);
  return {};
}

}  // namespace tkdc::setup
